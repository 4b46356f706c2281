/** The SQLite engine: one file, one process, every port of the store. */

import type { Store } from '../../server/ports.ts'
import { CannotOpen } from '../cannot-open.ts'
import type { Engine } from '../engine.ts'
import { type DamagedRow } from '../row-sums.ts'
import { sqliteAgents } from './agents.ts'
import { alone } from './alone.ts'
import { sqliteBlocks } from './blocks.ts'
import { sqliteBooks } from './books.ts'
import { connect, type Connection } from './connection.ts'
import type { Disk } from './disk.ts'
import { troubleOf } from './errors.ts'
import { sqliteHorizon } from './horizon.ts'
import { sqliteLedger } from './ledger.ts'
import { lockDatabase } from './lock.ts'
import { sqliteLog } from './log.ts'
import { migrate } from './migrate.ts'
import { sqliteModeration } from './moderation.ts'
import { ensureStayed } from './moved.ts'
import { sqlitePayouts } from './payouts.ts'
import { isDamaged } from './sums.ts'

/** The ports of an open database. `close` writes everything to the main file and lets another process in. */
export type Sqlite = Omit<Engine, 'close'> & { close(): void }

// Older ones can lose a commit when a write-ahead log is reset.
const OLDEST_SQLITE = [3, 51, 3] as const

/** How a database is opened. */
export type Opening = {
  readonly patienceMs?: number // how long to wait for another process to let go of it
  readonly onBroken?: () => void // told when the disk fails at commit: the process must end, for only a restart can tell what was kept
  readonly onDamaged?: (row: DamagedRow) => void // told of each row that does not fit its sum; it is left out from then on
  readonly disk?: Disk // what those who write together wait for
}

/**
 * Opens or makes the database at `path` (or `:memory:`) for one network (CAIP-2). Throws `DatabaseInUse` or `CannotOpen`
 * with a message for the operator.
 */
export async function openSqlite(
  path: string,
  network: string,
  { patienceMs, ...told }: Opening = {},
): Promise<Sqlite> {
  const unlock = path === ':memory:' ? () => {} : await lockDatabase(path, patienceMs)
  try {
    if (path !== ':memory:') ensureStayed(path)
    const connection = openWall(path, network, told)
    return { ...ports(connection), close: closing(connection, unlock) }
  } catch (error) {
    unlock()
    throw error
  }
}

/** Throws `CannotOpen` for a version of SQLite that may lose what was committed. */
export function checkVersion(version: string): void {
  const parts = version.split('.').map(Number)
  const at = OLDEST_SQLITE.findIndex((oldest, i) => parts[i] !== oldest)
  if (at >= 0 && !((parts[at] ?? 0) > (OLDEST_SQLITE[at] ?? 0)))
    throw new CannotOpen(`SQLite ${version} can lose commits; ${OLDEST_SQLITE.join('.')} or later is needed`)
}

/** A connection to a whole, up-to-date database of `network`. */
export function openWall(
  path: string,
  network: string,
  { onBroken, onDamaged = () => {}, disk }: Omit<Opening, 'patienceMs'> = {},
): Connection {
  try {
    const connection = connect(path, onBroken, disk)
    try {
      prepareWall(connection, network, onDamaged)
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  } catch (error) {
    const trouble = troubleOf(error)
    throw trouble === undefined ? error : new CannotOpen(`the database ${path} cannot be used: ${trouble}`)
  }
}

/** Every port on a connection. */
export function ports(connection: Connection): Omit<Sqlite, 'close'> {
  return {
    ledger: sqliteLedger(connection),
    books: sqliteBooks(connection),
    blocks: sqliteBlocks(connection),
    agents: sqliteAgents(connection),
    moderation: sqliteModeration(connection),
    payouts: sqlitePayouts(connection),
    log: sqliteLog(connection),
    horizon: sqliteHorizon(connection),
    store: sqliteStore(connection),
    ...alone,
  }
}

function closing(connection: Connection, unlock: () => void): () => void {
  let open = true
  return () => {
    if (!open) return
    open = false
    try {
      // A backup of the file alone is then a backup of everything.
      connection.run('PRAGMA wal_checkpoint(TRUNCATE)')
    } finally {
      connection.close()
      unlock()
    }
  }
}

function prepareWall(connection: Connection, network: string, onDamaged: (row: DamagedRow) => void): void {
  checkVersion(text(connection, 'SELECT sqlite_version() AS text'))
  // A commit that was answered must survive a power cut, which the default of a write-ahead log does not promise.
  // Waiting for a lock would stop the whole process, and there is nobody to wait for.
  connection.run(`
    PRAGMA busy_timeout = 0;
    PRAGMA foreign_keys = ON;
    PRAGMA recursive_triggers = ON;
    PRAGMA trusted_schema = OFF`)
  // What is made here and now needs no look for what time does to a file.
  const isNew = text(connection, 'SELECT CAST(user_version AS TEXT) AS text FROM pragma_user_version') === '0'
  migrate(connection)
  connection.run('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  if (!isNew) ensureWhole(connection)
  connection.keepSums(onDamaged)
  if (!isNew && connection.checkAll()) ensureTold(connection)
  belongTo(connection, network)
}

// What SQLite says of a single row or of an index; everything else is damage that nothing can be told around.
const ofOneRow = /^(CHECK constraint failed in|NULL value in|\w+ value in|non-\w+ value in) /
const ofAnIndex = /(missing from|entries in|entry in|order for) index/

/** Damaged rows are for their sums to find; damaged indexes are made anew; throws `CannotOpen` for any other damage. */
function ensureWhole(connection: Connection): void {
  const check = connection.prepare<{ integrity_check: string }>('PRAGMA integrity_check')
  const flaws = () => check.all({}).map((row) => row.integrity_check)
  const isBad = (flaw: string) => flaw !== 'ok' && !ofOneRow.test(flaw)
  const before = flaws().filter(isBad)
  if (before.some((flaw) => !ofAnIndex.test(flaw))) throw new CannotOpen(DAMAGED)
  if (before.length === 0) return
  try {
    connection.write(() => connection.run('REINDEX'))
  } catch {
    throw new CannotOpen(DAMAGED)
  }
  if (flaws().some(isBad)) throw new CannotOpen(DAMAGED)
}

/** Damage that took both homes of a sale leaves a gap that nothing fills. Throws `CannotOpen`. */
function ensureTold(connection: Connection): void {
  const doubly = connection.prepare<{ number: number }>(`
    SELECT number FROM changes AS c LEFT JOIN payments AS p ON p.seq = c.seq LEFT JOIN blocks AS b ON b.payment = p.id
    WHERE (${isDamaged('changes', 'c.number')} OR ${isDamaged('agents', 'c.agent')})
      AND (${isDamaged('payments', 'p.id')} OR ${isDamaged('blocks', 'b.i')} OR c.kind NOT IN ('sale', 'repaint', 'identity'))
    UNION ALL SELECT seq FROM payments WHERE seq NOT IN (SELECT seq FROM changes WHERE seq > 0)
    UNION ALL SELECT seq FROM changes WHERE seq NOT IN (SELECT seq FROM payments WHERE seq > 0)
    UNION ALL SELECT only_row FROM wall WHERE ${isDamaged('wall', 'only_row')} LIMIT 1`)
  if (doubly.get({}) !== null) throw new CannotOpen(DAMAGED)
}

const DAMAGED = 'the database is damaged; restore a backup'

function belongTo(connection: Connection, network: string): void {
  const insert = connection.prepare<unknown, { network: string }>(
    'INSERT INTO wall (only_row, network) VALUES (1, $network) ON CONFLICT DO NOTHING',
  )
  connection.write(() => insert.run({ network }))
  const owner = text(connection, 'SELECT network AS text FROM wall')
  if (owner !== network) throw new CannotOpen(`the database belongs to network ${owner}, not ${network}`)
}

function sqliteStore(connection: Connection): Store {
  const probe = connection.prepare('SELECT state FROM blocks WHERE i = 0')
  return {
    ready: async () => {
      try {
        return connection.read(() => probe.get({}) !== null)
      } catch {
        return false
      }
    },
  }
}

function text(connection: Connection, sql: string): string {
  return connection.prepare<{ text: string }>(sql).get({})?.text ?? ''
}
