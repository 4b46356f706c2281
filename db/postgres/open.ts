/** The PostgreSQL engine: one database, any number of processes, every port of the store. */

import { CannotOpen, CannotOpenYet, ensureSameNetwork } from '../cannot-open.ts'
import { type Engine, createStorePorts } from '../engine.ts'
import { countChangedRows, queryFirst, takeLock, queryOne, type Tx } from '../tx.ts'
import { type Connection, openConnection, createPostgresDriver } from './connection.ts'
import { createPostgresChangeNotifier, createPostgresJobs, createPostgresLeases } from './coordination.ts'
import { createPostgresLog } from './log.ts'
import { migrate } from './migrate.ts'
import { ensureNotMoved } from './migration-marker.ts'
import { type Session, WALL_NAME } from './pool.ts'
import { createPostgresStore } from './store.ts'

// The oldest supported server version; the PostgreSQL project no longer maintains older ones.
const OLDEST_SERVER = 14

/** How a database is opened. */
export type Opening = {
  readonly onUnchecked?: () => void // called if the server does not check its pages for damage (`data_checksums`)
  readonly answerMs?: number // how long to wait for a server that does not respond at all
}

/**
 * Opens the database at a URL for one network (CAIP-2), and creates its tables if necessary. Throws `CannotOpen` with a
 * message for the operator, which names the server and never the password.
 */
export async function openPostgres(
  url: string,
  network: string,
  { onUnchecked = () => {}, answerMs }: Opening = {},
): Promise<Engine> {
  const prepare = async (connection: Connection) => {
    await connection.borrowWithoutTimeout(async (session) => {
      if (!(await checkServer(session))) onUnchecked()
      await migrate(session)
      await ensureNotMoved(session)
    })
    await claimForNetwork(connection, network)
  }
  const connection = await openConnection(url, prepare, answerMs)
  connection.watermark.startWatching()
  return {
    ...createStorePorts(createPostgresDriver(connection)),
    log: createPostgresLog(connection, (change) => connection.watermark.advance({ change, payment: 0 })),
    store: createPostgresStore(connection),
    leases: createPostgresLeases(connection),
    jobs: createPostgresJobs(connection),
    notifier: createPostgresChangeNotifier(connection),
    close: connection.close,
  }
}

/**
 * Checks that a server is new enough, accepts writes, and flushes commits before it acknowledges them. Returns whether
 * the server checks its pages for damage. Throws `CannotOpen`.
 */
export async function checkServer({ queryRows }: Session): Promise<boolean> {
  const [server] = await queryRows<{
    version: number
    copy: boolean
    commits: string
    encoding: string
    checksums: string
    setBy: string | null
  }>(`
    SELECT current_setting('server_version_num')::integer / 10000 AS version, pg_is_in_recovery() AS copy,
      current_setting('synchronous_commit') AS commits, current_setting('server_encoding') AS encoding,
      current_setting('data_checksums') AS checksums,
      current_setting('wall.set_by', true) AS "setBy"`)
  if (server === undefined) throw new CannotOpen('the database does not report its settings')
  if (server.version < OLDEST_SERVER)
    throw new CannotOpen(`PostgreSQL ${server.version} is too old; ${OLDEST_SERVER} or later is required`)
  if (server.copy) throw new CannotOpenYet('the database is a read-only standby; connect to the primary')
  if (server.commits !== 'on' && server.commits !== 'remote_apply')
    throw new CannotOpen(`synchronous_commit is ${server.commits} on the server, so sales can be lost; set it to on`)
  if (server.setBy !== WALL_NAME) throw new CannotOpen(POOLED)
  if (server.encoding !== 'UTF8')
    throw new CannotOpen(`the database uses the encoding ${server.encoding}; create one with UTF8`)
  return server.checksums === 'on'
}

const POOLED =
  'a connection pooler drops the session settings; connect to the server directly, because notifications and locks belong to a connection'

async function claimForNetwork({ write }: Connection, network: string): Promise<void> {
  ensureSameNetwork(await write(null, () => claimOwner(network)), network)
}

const OWNER = 'SELECT network FROM wall'
const OWN = `
  INSERT INTO wall (only_row, network) SELECT 1, $network WHERE NOT EXISTS (SELECT 1 FROM wall)`

/**
 * Returns the network of the wall, and creates the wall if there is none. If several processes start together, only one
 * of them creates it.
 */
function* claimOwner(network: string): Tx<string> {
  const wall = yield* queryFirst<{ network: string }>(OWNER)
  if (wall !== undefined) return wall.network
  yield* takeLock('SELECT only_row FROM counters FOR UPDATE')
  yield* countChangedRows(OWN, { network })
  return (yield* queryOne<{ network: string }>(OWNER)).network
}
