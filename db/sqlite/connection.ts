/**
 * The one connection to a database file. Every transaction is synchronous and takes the write lock at its start: one
 * that waited for a promise would be committed at its first `await`, with the rest outside of it.
 */

import { Database, type Statement } from 'bun:sqlite'
import { StoreBroken, StoreUnavailable } from '../../server/domain/failure.ts'
import { atCommit, beforeCommit } from './errors.ts'

/** Named values of a statement, without their `$`. */
export type Values = Readonly<Record<string, string | number | boolean | Uint8Array | null>>

/** A statement ready to run. `Row` says what its columns hold, which the tables' CHECKs make true. */
export type Prepared<Row, Params extends Values> = Statement<Row, [Params]>

export type Connection = {
  /** Compiles a statement, to be kept for as long as the connection. */
  prepare<Row, Params extends Values = Record<never, never>>(sql: string): Prepared<Row, Params>
  /** Runs `work`, which only reads. Throws `StoreUnavailable`. */
  read<T>(work: () => T): T
  /** Runs `work` as one transaction: all of it is kept, or nothing. Throws `StoreUnavailable` or `StoreBroken`. */
  write<T>(work: () => T): T
  /** Runs SQL without values, several statements at once if need be. */
  run(sql: string): void
  /** Lets go of the file; from then on the store is unavailable. */
  close(): void
}

/**
 * Opens a file, or `:memory:`, as it is; its settings and tables are for the caller. `onBroken` is told at once when the
 * disk fails at commit.
 */
export function connect(path: string, onBroken: () => void = () => {}): Connection {
  const db = new Database(path, { readwrite: true, create: true, strict: true })
  let open = true
  const ensureOpen = () => {
    if (!open) throw new StoreUnavailable('the database is closed')
  }
  return {
    prepare: (sql) => db.prepare(sql),
    read: (work) => {
      ensureOpen()
      return reading(work)
    },
    write: (work) => {
      ensureOpen()
      try {
        return writing(db, work)
      } catch (error) {
        if (error instanceof StoreBroken) onBroken()
        throw error
      }
    },
    run: (sql) => {
      db.run(sql)
    },
    close: () => {
      if (!open) return
      open = false
      db.close(true)
    },
  }
}

/** Runs a statement whose condition must hold: anything but one changed row is a bug, and undoes the transaction. */
export function changeOne<Params extends Values>(
  statement: Prepared<unknown, Params>,
  values: Params,
  what: string,
): void {
  const { changes } = statement.run(values)
  if (changes !== 1) throw new Error(`${what}: ${changes} rows instead of one`)
}

/** The row of a statement that always has one. */
export function one<Row, Params extends Values>(statement: Prepared<Row, Params>, values: Params): Row {
  const row = statement.get(values)
  if (row === null) throw new Error('a statement that always has a row had none')
  return row
}

function reading<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw beforeCommit(error)
  }
}

function writing<T>(db: Database, work: () => T): T {
  const result = reading(() => {
    db.run('BEGIN IMMEDIATE')
    try {
      return work()
    } catch (error) {
      rollBack(db)
      throw error
    }
  })
  try {
    db.run('COMMIT')
  } catch (error) {
    rollBack(db)
    throw atCommit(error)
  }
  return result
}

function rollBack(db: Database): void {
  // SQLite has rolled back by itself after some errors.
  if (!db.inTransaction) return
  try {
    db.run('ROLLBACK')
  } catch {
    throw new StoreBroken('a transaction could be neither committed nor rolled back')
  }
}
