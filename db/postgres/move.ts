/** Moves a wall out of a PostgreSQL database, or into an empty one. */

import { TIMES } from '../../server/times.ts'
import { CannotOpen } from '../cannot-open.ts'
import {
  isKeyedByPayment,
  WALL_COLUMNS,
  WALL_TABLES,
  NotMoved,
  PAGE_ROWS,
  type Close,
  type WallRow,
  type WallTable,
  type Moving,
  type NewWall,
  type WallRows,
} from '../wall-rows.ts'
import { formatDatabaseLocation } from './connection.ts'
import { getErrorCode } from './errors.ts'
import { createPostgresLog } from './log.ts'
import { checkSchema, migrate } from './migrate.ts'
import { ensureNotMoved, removeMovedNote, writeMovedNote } from './migration-marker.ts'
import { checkServer } from './open.ts'
import { openPool, WALL_NAME, type Session } from './pool.ts'

/**
 * Reads the wall in a database from one snapshot. Throws `CannotOpen` if a process has the wall open. Until `close`,
 * nobody else can write to the database; afterwards, nobody can open the wall or commit to it while the note exists. A
 * rehearsal locks nothing and leaves no note.
 */
export const exportPostgres = <T>(
  url: string,
  { isRehearsal, timeoutMs, note }: Moving,
  work: (wall: WallRows, close: Close) => Promise<T>,
): Promise<T> =>
  runInOwnSession(url, async (session) => {
    await checkSchema(session)
    await ensureNotMoved(session)
    if (isRehearsal) await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    else
      await lockExclusively(
        session,
        url,
        timeoutMs,
        `BEGIN ISOLATION LEVEL REPEATABLE READ; LOCK TABLE ${TABLES} IN SHARE MODE`,
      )
    let isNoted = false
    const close = async () => {
      if (!isRehearsal) await writeMovedNote(session, note)
      await session.run('COMMIT')
      isNoted = !isRehearsal
    }
    try {
      return await work(createWallRows(session), close)
    } catch (error) {
      if (isNoted && error instanceof NotMoved) await removeMovedNote(session)
      throw error
    }
  })

/**
 * Creates the tables of an empty database, and in one transaction the wall that `work` fills in. Throws `CannotOpen` if
 * a process has a wall open on the database, or if a wall there was ever used.
 */
export const importPostgres = <T>(
  url: string,
  { isRehearsal, timeoutMs }: Moving,
  work: (wall: NewWall) => Promise<T>,
  closeOld: Close,
): Promise<T> =>
  runInOwnSession(url, async (session) => {
    await checkServer(session)
    await migrate(session)
    await lockExclusively(session, url, timeoutMs, `BEGIN; LOCK TABLE ${TABLES}, counters IN EXCLUSIVE MODE`)
    await ensureEmpty(session, url)
    // A compacted log has gaps, which normal writes never create.
    await session.run('ALTER TABLE changes DISABLE TRIGGER changes_are_numbered_densely')
    const result = await work({
      ...createWallRows(session),
      write: (table, rows) => writeRows(session, table, rows),
      finish: () => finishImport(session),
    })
    await closeOld()
    if (isRehearsal) await session.run('ROLLBACK')
    else await commitImport(session, url)
    return result
  })

const TABLES = WALL_TABLES.join(', ')

const UNHURRIED = 'SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0'

/** Runs `work` on a connection that has no time limit. Every error of the database becomes `CannotOpen`. */
async function runInOwnSession<T>(url: string, work: (session: Session) => Promise<T>): Promise<T> {
  const pool = openPool(url, TIMES.databaseAnswerTimeoutMs, { name: 'pixel-wall-move' })
  const createOpenError = (why: string) => new CannotOpen(`the database at ${formatDatabaseLocation(url)} ${why}`)
  try {
    await pool
      .borrowWithoutTimeout(({ run }) => run('SELECT'))
      .catch(({ message }: Error) => {
        throw createOpenError(`cannot be used: ${message}`)
      })
    return await pool.borrowWithoutTimeout(async (session) => {
      try {
        await session.run(UNHURRIED)
        return await work(session)
      } catch (error) {
        const code = getErrorCode(error)
        throw code === undefined ? error : createOpenError(WORDS[code] ?? `failed, or rejected a row: ${code}`)
      }
    })
  } finally {
    await pool.close()
  }
}

const WORDS: Readonly<Record<string, string>> = {
  '55P03': 'is being written to; stop the wall and try again',
}

const ASK_EVERY_MS = 100

/** Takes locks that exclude writers, and makes sure that no wall is connected. Throws `CannotOpen`. */
async function lockExclusively(session: Session, url: string, timeoutMs: number, locks: string): Promise<void> {
  await ensureClosed(session, url, timeoutMs)
  await session.run(locks)
  await ensureClosed(session, url, 0)
}

/** Waits until no wall is connected. Throws `CannotOpen` when the time is up. */
async function ensureClosed({ queryRows }: Session, url: string, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const [walls] = await queryRows<{ count: number }>(`
      SELECT count(*) AS count FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = '${WALL_NAME}'`)
    if (walls?.count === 0) return
    if (performance.now() >= deadline)
      throw new CannotOpen(`a wall is using the database at ${formatDatabaseLocation(url)}; stop it first`)
    await Bun.sleep(ASK_EVERY_MS)
  }
}

/** Throws `CannotOpen` unless the database is empty. A wall that was opened but never used counts as empty. */
async function ensureEmpty({ queryRows, run }: Session, url: string): Promise<void> {
  const tables = WALL_TABLES.filter((table) => table !== 'blocks' && table !== 'wall')
  const [state] = await queryRows<{ is_used: boolean }>(`
    SELECT ${tables.map((table) => `EXISTS (SELECT 1 FROM ${table})`).join(' OR ')}
      OR EXISTS (SELECT 1 FROM blocks WHERE state <> 'open') AS is_used`)
  if (state?.is_used !== false)
    throw new CannotOpen(
      `the database at ${formatDatabaseLocation(url)} already contains a wall; a wall can only be moved into an empty database`,
    )
  await run('DELETE FROM wall')
}

const createWallRows = (session: Session): WallRows => ({
  readPages: (table) => readPages(session, table),
  log: createPostgresLog(session),
})

async function* readPages({ queryRows, run }: Session, table: WallTable): AsyncGenerator<readonly WallRow[]> {
  const order = isKeyedByPayment(table) ? 'payer COLLATE "C", nonce COLLATE "C"' : WALL_COLUMNS[table][0]
  await run(`DECLARE page CURSOR FOR SELECT ${WALL_COLUMNS[table].join(', ')} FROM ${table} ORDER BY ${order}`)
  for (;;) {
    const page = await queryRows<WallRow>(`FETCH ${PAGE_ROWS} FROM page`)
    if (page.length > 0) yield page
    if (page.length < PAGE_ROWS) break
  }
  await run('CLOSE page')
}

/** One value carries all rows; the table defines the type of each column. */
async function writeRows({ queryRows }: Session, table: WallTable, made: readonly WallRow[]): Promise<void> {
  const columns = WALL_COLUMNS[table]
  const from = `json_populate_recordset(NULL::${table}, $1::text::json) AS made`
  const set = columns.map((column) => `${column} = made.${column}`).join(', ')
  const written = await queryRows(
    table === 'blocks'
      ? `UPDATE blocks SET ${set} FROM ${from} WHERE blocks.i = made.i RETURNING 1`
      : `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM ${from} RETURNING 1`,
    [JSON.stringify(made.map(toJsonRow))],
  )
  if (written.length !== made.length)
    throw new CannotOpen(`the database stored ${written.length} rows of ${table} instead of ${made.length}`)
}

/** A row as JSON, with bytes in PostgreSQL's own notation. */
const toJsonRow = (row: WallRow) =>
  Object.fromEntries(
    Object.entries(row).map(([column, cell]) => [column, cell instanceof Uint8Array ? `\\x${cell.toHex()}` : cell]),
  )

/** Sets the next numbers, and updates the server's statistics about the tables. */
async function finishImport({ queryRows, run }: Session): Promise<void> {
  // A table cannot be altered while a deferred check is pending.
  await run('SET CONSTRAINTS ALL IMMEDIATE; ALTER TABLE changes ENABLE TRIGGER changes_are_numbered_densely')
  await run(`UPDATE counters SET
    (number, seq, at) = (SELECT coalesce(max(number), 0), coalesce(max(seq), 0), coalesce(max(at), 0) FROM changes),
    agent = (SELECT coalesce(max(id), 0) FROM agents)`)
  const [payments] = await queryRows<{ next: number }>('SELECT coalesce(max(id), 0) + 1 AS next FROM payments')
  await run(`ALTER TABLE payments ALTER COLUMN id RESTART WITH ${payments?.next ?? 1}; ANALYZE ${TABLES}`)
}

async function commitImport({ run }: Session, url: string): Promise<void> {
  try {
    await run('COMMIT')
  } catch (error) {
    throw new CannotOpen(
      `the connection to the database at ${formatDatabaseLocation(url)} was lost during the final commit (${getErrorCode(error) ?? 'no response'}), so it is not known whether the wall is there. Check whether that database has sales. The old location stays closed. Only if there are no sales in the new one, remove the note at the old location (if you start the wall there, the error explains how) and move again`,
    )
  }
}
