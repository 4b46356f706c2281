/** The PostgreSQL engine: one database, as many processes as like, every port of the store. */

import type { Audit } from '../../server/ports.ts'
import { CannotOpen } from '../cannot-open.ts'
import type { Engine } from '../engine.ts'
import type { DamagedRow } from '../row-checksums.ts'
import { postgresAudit } from './audit.ts'
import { openConnection, type Connection } from './connection.ts'
import { postgresChangeNotifier, postgresJobs, postgresLeases } from './coordination.ts'
import { postgresLedgerReader } from './ledger-reader.ts'
import { migrate } from './migrate.ts'
import { ensureStayed } from './migration-marker.ts'
import { WALL_NAME, type Session } from './pool.ts'
import { postgresCheckpoint } from './purchase/chain-checkpoint.ts'
import { postgresLedger } from './purchase/ledger.ts'
import { postgresPayouts } from './purchase/payouts.ts'
import { postgresStore } from './store.ts'
import { postgresAgents } from './wall/agents.ts'
import { postgresBlocks } from './wall/blocks.ts'
import { postgresCompaction } from './wall/compaction.ts'
import { postgresLog } from './wall/log.ts'
import { postgresModeration } from './wall/moderation.ts'
import { checking, put, writeAll } from './writes.ts'

/** The ports of an open database, and its books. */
export type Postgres = Engine & { readonly audit: Audit }

// Older ones are looked after by nobody any more.
const OLDEST_SERVER = 14

/** How a database is opened. */
export type Opening = {
  readonly onDamaged?: (row: DamagedRow) => void // told of each row that does not fit its sum, once; it is not served
  readonly answerMs?: number // how long to wait for a server that does not answer at all
}

/**
 * Opens the database at a URL for one network (CAIP-2), and makes its tables if need be. Throws `CannotOpen` with a message
 * for the operator, which names the server and never the password.
 */
export async function openPostgres(
  url: string,
  network: string,
  { onDamaged = () => {}, answerMs }: Opening = {},
): Promise<Postgres> {
  const check = checking(onDamaged)
  const prepare = async (connection: Connection) => {
    await connection.apart(async (session) => {
      await checkServer(session)
      await migrate(session)
      await ensureStayed(session)
    })
    await belongTo(connection, network)
  }
  const connection = await openConnection(url, prepare, answerMs)
  connection.watermark.begin()
  return {
    ledger: postgresLedger(connection, check),
    ledgerReader: postgresLedgerReader(connection, check),
    blocks: postgresBlocks(connection, check),
    agents: postgresAgents(connection, check),
    moderation: postgresModeration(connection, check),
    payouts: postgresPayouts(connection),
    log: postgresLog(connection, check, (change) => connection.watermark.rise({ change, payment: 0 })),
    compaction: postgresCompaction(connection),
    checkpoint: postgresCheckpoint(connection, check),
    store: postgresStore(connection),
    audit: postgresAudit(connection, check),
    leases: postgresLeases(connection),
    jobs: postgresJobs(connection),
    notifier: postgresChangeNotifier(connection),
    close: connection.close,
  }
}

/** A server must be new enough, take writes, and have a commit on its disk before it is answered. Throws `CannotOpen`. */
export async function checkServer({ rows }: Session): Promise<void> {
  const [server] = await rows<{
    version: number
    copy: boolean
    commits: string
    encoding: string
    setBy: string | null
  }>(`
    SELECT current_setting('server_version_num')::integer / 10000 AS version, pg_is_in_recovery() AS copy,
      current_setting('synchronous_commit') AS commits, current_setting('server_encoding') AS encoding,
      current_setting('wall.set_by', true) AS "setBy"`)
  if (server === undefined) throw new CannotOpen('the database tells nothing of itself')
  if (server.version < OLDEST_SERVER)
    throw new CannotOpen(`PostgreSQL ${server.version} is too old; ${OLDEST_SERVER} or later is needed`)
  if (server.copy) throw new CannotOpen('the database is a copy that cannot be written; name the primary')
  if (server.commits !== 'on' && server.commits !== 'remote_apply')
    throw new CannotOpen(`synchronous_commit is ${server.commits} there, so that sales can be lost; set it to on`)
  if (server.setBy !== WALL_NAME) throw new CannotOpen(POOLED)
  if (server.encoding !== 'UTF8')
    throw new CannotOpen(`the database keeps ${server.encoding}; make one that keeps UTF8`)
}

const POOLED =
  'a pooler in between keeps back what connections are set to; name the server itself: notifications and locks belong to a connection'

async function belongTo(connection: Connection, network: string): Promise<void> {
  const owner = await connection.transaction(null, async (queries) => {
    const find = () => queries.rows<{ network: string }>('SELECT network FROM wall')
    const [wall] = await find()
    if (wall !== undefined) return wall.network
    // Of several processes that start at once, one makes the row.
    await queries.rows('SELECT only_row FROM counters FOR UPDATE')
    if ((await find()).length === 0) await writeAll(queries, [put('wall', { only_row: 1, network, seen_height: null })])
    return (await find())[0]?.network
  })
  if (owner !== network) throw new CannotOpen(`the database belongs to network ${owner ?? 'none'}, not ${network}`)
}
