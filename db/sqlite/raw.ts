/** A database as SQLite gives it: statements, and what runs them. */

import type { Statement } from 'bun:sqlite'

/** Named values of a statement, without their `$`. */
export type Values = Readonly<Record<string, string | number | boolean | Uint8Array | null>>

/** A statement ready to run. `Row` says what its columns hold, which the tables' CHECKs make true. */
export type Prepared<Row, Params extends Values> = Statement<Row, [Params]>

/** A connection as SQLite gives it. */
export type RawConnection = {
  /** A statement, compiled once for as long as the connection. */
  prepare<Row, Params extends Values = Values>(sql: string): Prepared<Row, Params>
  /** Runs SQL without values, several statements at once if need be. */
  run(sql: string): void
}
