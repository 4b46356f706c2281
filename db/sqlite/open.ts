/** The SQLite engine: one file, one process, every port of the store. */

import { CannotOpen, ensureSameNetwork } from '../cannot-open.ts'
import { type Ahead, type Checked, type Engine, createStorePorts } from '../engine.ts'
import type { DamagedRow } from '../row-checksums.ts'
import { connect, type Connection } from './connection.ts'
import { singleProcess } from './coordination.ts'
import { createSqliteDriver } from './driver.ts'
import { runOrRefuseToOpen } from './errors.ts'
import { findFlaw, inspectDatabase, type Inspection } from './file/integrity-check.ts'
import { inspectInWorker } from './file/integrity-worker-client.ts'
import { lockDatabase } from './file/lock.ts'
import type { Disk } from './file/wal-sync.ts'
import { createSqliteLog } from './log.ts'
import { migrate } from './migrate.ts'
import { ensureNotMoved } from './migration-marker.ts'
import { renderDamagedCondition } from './row-checksums.ts'
import { createSqliteStore } from './store.ts'

/** The ports of an open database. `close` writes everything to the main file and releases the database's lock. */
export type Sqlite = Omit<Engine, 'close'> & { close(): void }

// Older SQLite versions can lose a commit when a write-ahead log is reset.
const OLDEST_SQLITE = '3.51.3'

/** How a database is opened. */
export type Opening = {
  readonly timeoutMs?: number // how long to wait for another process to release the database
  /** Called when the disk fails at commit: the process must end, because only a restart can tell what was saved. */
  readonly onBroken?: () => void
  /** Called with each row that does not match its checksum; it is left out from then on. */
  readonly onDamaged?: (row: DamagedRow) => void
  readonly disk?: Disk // the disk of group commits
  readonly copyOf?: Uint8Array // a database, known to be undamaged, of which a copy is opened in memory
}

/**
 * Opens or creates the database at `path` (or `:memory:`) for one network (CAIP-2). Throws `DatabaseInUse` or
 * `CannotOpen` with a message for the operator.
 */
export async function openSqlite(path: string, network: string, opening: Opening = {}): Promise<Sqlite> {
  return await openLocked(path, opening, (unlock) => {
    const connection = openWall(path, network, opening)
    return { ...createPorts(connection), close: createCloseFunction(connection, unlock) }
  })
}

/**
 * Like `openSqlite`, but does not wait for the check of the file, which runs in a separate thread. Only reading is
 * allowed until `checked` has resolved.
 */
export async function openSqliteUnchecked(
  path: string,
  network: string,
  opening: Opening = {},
): Promise<Ahead<Sqlite>> {
  return await openLocked(path, opening, (unlock) => {
    const { connection, isWhole } = runOrRefuseToOpen(path, () => openMigrated(path, opening))
    let isHistoryChecked = isWhole
    const store = { ...createPorts(connection, () => isHistoryChecked), close: createCloseFunction(connection, unlock) }
    const checkCurrentState = async () => {
      try {
        const found = isWhole ? WHOLE : await inspectInWorker({ path, part: 'present' })
        return runOrRefuseToOpen(path, () => applyInspection(connection, network, found))
      } catch (error) {
        connection.close()
        unlock()
        throw error
      }
    }
    const checked = checkCurrentState()
    // The promise may reject before the caller handles it.
    checked.catch(() => {})
    const checkHistory = async () => {
      if (isHistoryChecked) return
      const found = await inspectInWorker({ path, part: 'whole' })
      if (!connection.isOpen()) return
      runOrRefuseToOpen(path, () => applyInspection(connection, network, found))
      isHistoryChecked = true
    }
    return { store, checked, checkHistory }
  })
}

async function openLocked<T>(path: string, { timeoutMs }: Opening, open: (unlock: () => void) => T): Promise<T> {
  const unlock = path === ':memory:' ? () => {} : await lockDatabase(path, timeoutMs)
  try {
    if (path !== ':memory:') ensureNotMoved(path)
    return open(unlock)
  } catch (error) {
    unlock()
    throw error
  }
}

/** Throws `CannotOpen` for a version of SQLite that may lose commits. */
export function checkVersion(version: string): void {
  if (!Bun.semver.satisfies(version, `>=${OLDEST_SQLITE}`))
    throw new CannotOpen(`SQLite ${version} can lose commits; ${OLDEST_SQLITE} or later is required`)
}

/** A connection to a migrated and checked database of `network`; damaged rows are left out. */
export function openWall(path: string, network: string, opening: Opening = {}): Connection {
  return runOrRefuseToOpen(path, () => {
    const { connection, isWhole } = openMigrated(path, opening)
    try {
      applyInspection(connection, network, isWhole ? WHOLE : inspectDatabase(connection))
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  })
}

export function createPorts(connection: Connection, isHistoryChecked = () => true): Omit<Sqlite, 'close'> {
  return {
    ...createStorePorts(createSqliteDriver(connection)),
    log: createSqliteLog(connection, isHistoryChecked),
    store: createSqliteStore(connection),
    ...singleProcess,
  }
}

function createCloseFunction(connection: Connection, unlock: () => void): () => void {
  let open = true
  return () => {
    if (!open) return
    open = false
    try {
      // After this checkpoint, a backup of the main file alone is complete.
      connection.run('PRAGMA wal_checkpoint(TRUNCATE)')
    } finally {
      connection.close()
      unlock()
    }
  }
}

/** A connection to a migrated database; `isWhole` is true if the database needs no check for damage. */
function openMigrated(path: string, { onDamaged = () => {}, ...way }: Opening) {
  const connection = connect(path, way)
  try {
    checkVersion(readText(connection, 'SELECT sqlite_version() AS text'))
    // An acknowledged commit must survive a power cut, which the default of a write-ahead log does not guarantee. The
    // connection never waits for a lock, because that would block the whole process, and no other process has a lock.
    connection.run(`
      PRAGMA busy_timeout = 0;
      PRAGMA foreign_keys = ON;
      PRAGMA recursive_triggers = ON;
      PRAGMA trusted_schema = OFF`)
    const isNew = readText(connection, 'SELECT CAST(user_version AS TEXT) AS text FROM pragma_user_version') === '0'
    migrate(connection)
    connection.run('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    connection.keepSums(onDamaged)
    return { connection, isWhole: isNew || way.copyOf !== undefined }
  } catch (error) {
    connection.close()
    throw error
  }
}

// A database that is created now cannot be damaged yet.
const WHOLE: Inspection = { flaw: 'none', damaged: [] }

/**
 * Applies the result of a check: rebuilds damaged indexes, leaves out damaged rows. Throws `CannotOpen` for any other
 * damage.
 */
function applyInspection(connection: Connection, network: string, { flaw, damaged }: Inspection): Checked {
  if (flaw === 'beyond-repair') throw new CannotOpen(DAMAGED)
  if (flaw === 'indexes') rebuildIndexes(connection)
  connection.excludeRows(damaged)
  if (damaged.length > 0) ensureSalesComplete(connection)
  claimForNetwork(connection, network)
  return flaw === 'none' && damaged.length === 0 ? 'whole' : 'repaired'
}

function rebuildIndexes(connection: Connection): void {
  try {
    connection.write(() => connection.run('REINDEX'))
  } catch {
    throw new CannotOpen(DAMAGED)
  }
  if (findFlaw(connection) !== 'none') throw new CannotOpen(DAMAGED)
}

/**
 * Throws `CannotOpen` if undamaged rows cannot replace the damaged ones, for example because both copies of a sale are
 * damaged.
 */
function ensureSalesComplete(connection: Connection): void {
  const doubly = connection.prepare<{ number: number }>(`
    SELECT number FROM changes AS c LEFT JOIN sales AS s ON s.seq = c.seq LEFT JOIN payments AS p ON p.id = s.payment
      LEFT JOIN blocks AS b ON b.i = s.block
    WHERE (${renderDamagedCondition('changes', 'c.number')} OR ${renderDamagedCondition('agents', 'c.agent')})
      AND (${renderDamagedCondition('payments', 'p.id')} OR ${renderDamagedCondition('blocks', 'b.i')} OR c.kind NOT IN ('sale', 'repaint', 'identity'))
    UNION ALL SELECT seq FROM sales WHERE seq NOT IN (SELECT seq FROM changes WHERE seq > 0)
    UNION ALL SELECT seq FROM changes WHERE seq NOT IN (SELECT seq FROM sales WHERE seq > 0)
    UNION ALL SELECT only_row FROM wall WHERE ${renderDamagedCondition('wall', 'only_row')} LIMIT 1`)
  if (doubly.get({}) !== null) throw new CannotOpen(DAMAGED)
}

const DAMAGED = 'the database is damaged; restore a backup'

function claimForNetwork(connection: Connection, network: string): void {
  const insert = connection.prepare<unknown, { network: string }>(
    'INSERT INTO wall (only_row, network) VALUES (1, $network) ON CONFLICT DO NOTHING',
  )
  connection.write(() => insert.run({ network }))
  const owner = readText(connection, 'SELECT network AS text FROM wall')
  ensureSameNetwork(owner, network)
}

function readText(connection: Connection, sql: string): string {
  return connection.prepare<{ text: string }>(sql).get({})?.text ?? ''
}
