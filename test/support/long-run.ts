/** Whether tests run to their full length, as `bun run endurance` asks; else they are as short as the gate needs them. */
export const IS_LONG_RUN = Bun.env['LONG_RUN'] === '1'
