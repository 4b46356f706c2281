/** What an edit leaves of a value: `undefined` keeps it, `null` clears it. */
export const edited = <T>(value: T | null | undefined, before: T | null): T | null =>
  value === undefined ? before : value
