/** A database as SQLite offers it: statements, and connections that run them. */

import type { Statement } from 'bun:sqlite'

/** Named values of a statement, without their `$`. */
export type Values = Readonly<Record<string, string | number | boolean | Uint8Array | null>>

/** A prepared statement. `Row` has the column types, which the tables' CHECKs guarantee. */
export type Prepared<Row, Params extends Values> = Statement<Row, [Params]>

/** A connection as SQLite provides it. */
export type RawConnection = {
  /** Returns a statement, which is compiled once per connection. */
  prepare<Row, Params extends Values = Values>(sql: string): Prepared<Row, Params>
  /** Runs SQL without values, possibly several statements. */
  run(sql: string): void
}
