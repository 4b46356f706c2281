/**
 * Whether tests run at full length, as `bun run endurance` requests; otherwise they are shortened for the gate.
 */
export const IS_LONG_RUN = Bun.env['LONG_RUN'] === '1'
