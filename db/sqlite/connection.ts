/**
 * The one connection to a database file. Every write transaction is synchronous and takes the write lock at its start.
 * If a transaction waited for a promise, it would be committed at its first `await`, and the rest would run outside of
 * it.
 */

import { Database, type Statement } from 'bun:sqlite'
import { StoreBroken, StoreUnavailable } from '../../server/domain/failure.ts'
import type { Bound } from '../fragments.ts'
import type { DamagedRow, Table } from '../row-checksums.ts'
import { toErrorAtCommit, toErrorBeforeCommit } from './errors.ts'
import { createGroupCommit } from './file/group-commit.ts'
import { makePrivate } from './file/private-file.ts'
import { createDisk, type Disk } from './file/wal-sync.ts'
import type { Prepared, RawConnection, Values } from './raw.ts'
import { maintainChecksums, type Sums } from './row-checksums.ts'

/** The connection to the one database file. */
export type Connection = RawConnection & {
  /** Returns a statement with numbered values, which is compiled only once. */
  prepareNumbered<Row>(sql: string): Statement<Row, Bound[]>
  /**
   * Throws `StoreUnavailable` if one of these rows does not match its checksum; must be called inside a read or a
   * transaction.
   */
  checkRows(table: Table, rows: readonly number[]): void
  /** Marks rows as damaged after a check found the damage. */
  excludeRows(rows: readonly DamagedRow[]): void
  /** Whether any row was found damaged. */
  isDamaged(): boolean
  /** Maintains row checksums from now on; needs the tables. Calls `onDamaged` only once for each damaged row. */
  keepSums(onDamaged: (row: DamagedRow) => void): void
  /** Runs `work`, which only reads, from one snapshot. Throws `StoreUnavailable`. */
  read<T>(work: () => T): T
  /** Runs `work` as one transaction: all of it is stored, or nothing. Throws `StoreUnavailable` or `StoreBroken`. */
  write<T>(work: () => T): T
  /** Like `write`, but shares one commit with concurrent writes; requests are served while it waits for the disk. */
  writeTogether<T>(work: () => T): Promise<T>
  /** Resolves once everything that can be read now is flushed. */
  waitUntilFlushed(): Promise<void>
  /** Returns a number that increases whenever the result of a read may have changed. */
  getVersion(): number
  isOpen(): boolean
  /** Closes the file; from then on the database is unavailable. */
  close(): void
}

const MEMORY = ':memory:'

type Way = {
  readonly onBroken?: () => void // called immediately if the disk fails at a commit or after one
  readonly disk?: Disk
  readonly copyOf?: Uint8Array // the initial content of a database in memory
}

/** Opens a file, or `:memory:`, as it is; the caller applies settings and creates tables. */
export function connect(path: string, { onBroken = () => {}, disk = createDisk(path), copyOf }: Way = {}): Connection {
  const db = openDatabase(path, copyOf)
  let open = true
  let version = 0
  let sums: Sums | undefined
  const prepare = createStatementCache(db)
  const raw: RawConnection = {
    prepare,
    run: (sql) => {
      version++
      db.run(sql)
    },
  }
  const runGuarded = <T>(work: () => T): T => {
    if (!open) throw new StoreUnavailable('the database is closed')
    try {
      return work()
    } catch (error) {
      version++
      if (error instanceof StoreBroken) onBroken()
      else sums?.excludeDamaged()
      throw error
    }
  }
  const write = <T>(work: () => T, transact = runInWriteTransaction): T =>
    runGuarded(() =>
      transact(db, () => {
        version++
        const result = work()
        sums?.updateChecksums()
        return result
      }),
    )
  const shared = createGroupCommit({
    write: (work) => write(work, disk.flush === undefined ? runInWriteTransaction : runWithoutFlush),
    soon: disk.soon,
    flush: async () => {
      try {
        await disk.flush?.()
      } catch {
        onBroken()
        throw new StoreBroken('the disk failed after a commit')
      }
    },
  })
  return {
    ...raw,
    prepareNumbered: prepare as Connection['prepareNumbered'],
    read: (work) => runGuarded(() => convertErrorsBeforeCommit(() => runInReadTransaction(db, work))),
    write: (work) => write(work),
    writeTogether: shared.write,
    waitUntilFlushed: shared.waitUntilFlushed,
    checkRows: (table, rows) => sums?.checkRows(table, rows),
    excludeRows: (rows) => sums?.excludeRows(rows),
    getVersion: () => version,
    isOpen: () => open,
    isDamaged: () => sums?.isDamaged() ?? false,
    keepSums: (onDamaged) => {
      sums = maintainChecksums(raw, onDamaged)
    },
    close: () => {
      if (!open) return
      open = false
      version++
      db.close(true)
      disk.close()
    },
  }
}

function openDatabase(path: string, copyOf?: Uint8Array): Database {
  if (copyOf !== undefined) return Database.deserialize(copyOf, { strict: true })
  if (path !== MEMORY) makePrivate(path)
  return new Database(path, { readwrite: true, create: true, strict: true })
}

function createStatementCache(db: Database): RawConnection['prepare'] {
  const compiled = new Map<string, Prepared<never, never>>()
  return <Row, Params extends Values>(sql: string) => {
    const statement = compiled.get(sql) ?? db.prepare<never, never>(sql)
    compiled.set(sql, statement)
    return statement as Prepared<Row, Params>
  }
}

/** The row of a statement that always has one. */
export function readOneRow<Row, Params extends Values>(statement: Prepared<Row, Params>, values: Params): Row {
  const row = statement.get(values)
  if (row === null) throw new Error('a statement that must return a row returned none')
  return row
}

function convertErrorsBeforeCommit<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw toErrorBeforeCommit(error)
  }
}

/** Reads from one snapshot. Outside of a transaction, each statement would lock and unlock the file. */
function runInReadTransaction<T>(db: Database, work: () => T): T {
  if (db.inTransaction) return work()
  db.run('BEGIN')
  try {
    return work()
  } finally {
    if (db.inTransaction) db.run('COMMIT')
  }
}

function runInWriteTransaction<T>(db: Database, work: () => T): T {
  const result = convertErrorsBeforeCommit(() => {
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
    throw toErrorAtCommit(error)
  }
  return result
}

/** Like `runInWriteTransaction`, but leaves it to the caller to wait for the disk. */
function runWithoutFlush<T>(db: Database, work: () => T): T {
  db.run('PRAGMA synchronous = NORMAL')
  try {
    return runInWriteTransaction(db, work)
  } finally {
    db.run('PRAGMA synchronous = FULL')
  }
}

function rollBack(db: Database): void {
  // After some errors, SQLite has already rolled back.
  if (!db.inTransaction) return
  try {
    db.run('ROLLBACK')
  } catch {
    throw new StoreBroken('a transaction could be neither committed nor rolled back')
  }
}
