/**
 * Whether tests run at full length, as `bun run endurance` requests; otherwise they are as short as the gate needs
 * them.
 */
export const IS_LONG_RUN = Bun.env['LONG_RUN'] === '1'
