/** Moves a wall out of a SQLite file, or into a new one. */

import { SQLiteError } from 'bun:sqlite'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreUnavailable } from '../../server/domain/failure.ts'
import { CannotOpen } from '../cannot-open.ts'
import { flush } from '../new-file.ts'
import type { DamagedRow } from '../row-checksums.ts'
import {
  isKeyedByPayment,
  NotMoved,
  WALL_COLUMNS,
  PAGE_ROWS,
  type Close,
  type WallRow,
  type WallTable,
  type Moving,
  type NewWall,
  type WallRows,
} from '../wall-rows.ts'
import { connect, type Connection } from './connection.ts'
import { backUp } from './file/backup.ts'
import { lockDatabase } from './file/lock.ts'
import { createSqliteLog } from './log.ts'
import { migrate } from './migrate.ts'
import { ensureNotMoved, removeMovedNote, prepareNote } from './migration-marker.ts'
import { openWall } from './open.ts'

/**
 * Reads the wall in the file at `path`, from a consistent copy. Unless the move is a rehearsal, no wall can open the
 * file while `work` runs, or later while the note is next to the file. Throws `CannotOpen` if a row is damaged or,
 * except in a rehearsal, if a wall has the file open.
 */
export async function exportSqlite<T>(
  path: string,
  { isRehearsal, timeoutMs, note }: Moving,
  work: (wall: WallRows, close: Close) => Promise<T>,
): Promise<T> {
  if (!existsSync(path)) throw new CannotOpen(`there is no database at ${path}`)
  const unlock = isRehearsal ? () => {} : await lockDatabase(path, timeoutMs)
  const copy = `${path}.leaving`
  try {
    ensureNotMoved(path)
    removeDatabase(copy)
    backUp(path, copy)
    const connection = openUndamaged(copy)
    try {
      const rows = createWallRows(connection)
      return isRehearsal
        ? await work(rows, async () => {})
        : await runWithNote(path, note, (close) => work(rows, close))
    } finally {
      connection.close()
    }
  } finally {
    removeDatabase(copy)
    unlock()
  }
}

/**
 * Runs `work`, which leaves the note that the wall at `path` has moved. Once written, the note stays even after a
 * failure, because the wall may be elsewhere.
 */
async function runWithNote<T>(path: string, words: string, work: (close: Close) => Promise<T>): Promise<T> {
  // Writes the note before the move, because there may be no space for it afterwards.
  const leaveNote = prepareNote(path, words)
  let isNoted = false
  try {
    return await work(async () => {
      leaveNote()
      isNoted = true
    })
  } catch (error) {
    if (!isNoted) removeMovedNote(path)
    throw error
  }
}

/**
 * Creates a new file at `path` for the wall that `work` fills in; the file gets its name at the end, when it is
 * flushed. Throws `CannotOpen` if there is already a file at that path.
 */
export async function importSqlite<T>(
  path: string,
  { isRehearsal, timeoutMs }: Moving,
  work: (wall: NewWall) => Promise<T>,
  closeOld: Close,
): Promise<T> {
  const unlock = await lockDatabase(path, timeoutMs)
  const unfinished = `${path}.unfinished`
  try {
    // SQLite would apply a leftover log of another database to this one.
    const there = [path, `${path}-wal`, `${path}-shm`].find((name) => existsSync(name))
    if (there !== undefined) throw new CannotOpen(`${there} already exists; a wall can only be moved to a new file`)
    removeDatabase(unfinished)
    const result = await fillNewWall(unfinished, work)
    flush(unfinished)
    await closeOld()
    if (isRehearsal) return result
    try {
      renameSync(unfinished, path)
    } catch (error) {
      throw new NotMoved(`cannot create ${path}: ${getErrorCode(error)}`)
    }
    try {
      removeMovedNote(path)
      flush(dirname(path))
    } catch (error) {
      throw new CannotOpen(
        `the wall is at ${path} now, and the old location stays closed. The folder of ${path} could not be updated and flushed (${getErrorCode(error)}), so a power failure could undo the move. Check the disk, and remove ${path}.moved if it exists`,
      )
    }
    return result
  } catch (error) {
    if (!(error instanceof SQLiteError || error instanceof StoreUnavailable)) throw error
    throw new CannotOpen(`cannot create ${path}: ${error instanceof SQLiteError ? error.code : error.message}`)
  } finally {
    removeDatabase(unfinished)
    unlock()
  }
}

/** The code of an error of the file system. */
const getErrorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error)

async function fillNewWall<T>(path: string, work: (wall: NewWall) => Promise<T>): Promise<T> {
  let connection = connect(path)
  try {
    // An interrupted copy is discarded, so nothing needs a flush before the end.
    connection.run('PRAGMA foreign_keys = ON; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF')
    migrate(connection)
    connection.keepSums(() => {})
    // A compacted log has gaps, which normal writes never create.
    const restoreTrigger = dropTrigger(connection, 'changes_are_numbered_densely')
    const result = await work({
      readPages: (table) => readPages(connection, table),
      get log() {
        return createSqliteLog(connection)
      },
      write: async (table, rows) => writeRows(connection, table, rows),
      async finish() {
        restoreTrigger()
        connection.close()
        connection = openUndamaged(path)
      },
    })
    connection.run('PRAGMA wal_checkpoint(TRUNCATE)')
    return result
  } finally {
    connection.close()
  }
}

/** Drops a trigger; the returned function creates it again. */
function dropTrigger(connection: Connection, name: string): () => void {
  const trigger = connection
    .prepare<{ sql: string }, { name: string }>(`SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = $name`)
    .get({ name })
  if (trigger === null) throw new CannotOpen(`there is no trigger ${name}`)
  connection.run(`DROP TRIGGER ${name}`)
  return () => connection.run(trigger.sql)
}

/** Opens a file as the wall would. Throws `CannotOpen` if a row is damaged. */
function openUndamaged(path: string): Connection {
  const damaged: DamagedRow[] = []
  const connection = openWall(path, readNetwork(path), { onDamaged: (row) => damaged.push(row) })
  const [first] = damaged
  if (first === undefined) return connection
  connection.close()
  throw new CannotOpen(`row ${first.row} of ${first.table} is damaged; restore an intact backup`)
}

function readNetwork(path: string): string {
  const connection = connect(path)
  try {
    migrate(connection)
    const wall = connection.prepare<{ network: string }>('SELECT network FROM wall').get({})
    if (wall === null) throw new CannotOpen('there is no wall in the database')
    return wall.network
  } finally {
    connection.close()
  }
}

const createWallRows = (connection: Connection): WallRows => ({
  readPages: (table) => readPages(connection, table),
  log: createSqliteLog(connection),
})

async function* readPages(connection: Connection, table: WallTable): AsyncGenerator<readonly WallRow[]> {
  const order = isKeyedByPayment(table) ? 'payer, nonce' : WALL_COLUMNS[table][0]
  const all = connection.prepare<WallRow>(`SELECT ${WALL_COLUMNS[table].join(', ')} FROM ${table} ORDER BY ${order}`)
  let page: WallRow[] = []
  for (const row of all.iterate({})) {
    page.push(row)
    if (page.length < PAGE_ROWS) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

function writeRows(connection: Connection, table: WallTable, rows: readonly WallRow[]): void {
  const columns = WALL_COLUMNS[table]
  // The block's number `i` is not set, because other rows refer to it and SQLite would search all of them.
  const set = columns.filter((column) => column !== 'i').map((column) => `${column} = $${column}`)
  const named = columns.map((column) => `$${column}`)
  const write = connection.prepare<unknown, Record<string, string | number | Uint8Array | null>>(
    table === 'blocks'
      ? `UPDATE blocks SET ${set.join(', ')} WHERE i = $i`
      : `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${named.join(', ')})`,
  )
  connection.write(() => {
    for (const row of rows) {
      const { changes } = write.run({ ...row })
      if (changes !== 1) throw new Error(`a row of ${table} to write: changed ${changes} rows instead of 1`)
    }
  })
}

function removeDatabase(path: string): void {
  for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${ending}`, { force: true })
}
