/** The PostgreSQL engine: one database, as many processes as like, every port of the store. */

import type { Audit, Store, WriteFailure } from '../../server/ports.ts'
import { CannotOpen } from '../cannot-open.ts'
import type { Engine } from '../engine.ts'
import type { DamagedRow } from '../row-checksums.ts'
import { postgresAudit } from './audit.ts'
import { connect, type Connection } from './connection.ts'
import { postgresChangeNotifier, postgresJobs, postgresLeases } from './coordination.ts'
import { codeOf, wordsFor } from './errors.ts'
import { postgresLedgerReader } from './ledger-reader.ts'
import { checkSchema, migrate } from './migrate.ts'
import { ensureStayed } from './migration-marker.ts'
import { WALL_NAME, type Session } from './pool.ts'
import { postgresCheckpoint } from './purchase/chain-checkpoint.ts'
import { postgresLedger } from './purchase/ledger.ts'
import { postgresPayouts } from './purchase/payouts.ts'
import { postgresAgents } from './wall/agents.ts'
import { postgresBlocks } from './wall/blocks.ts'
import { postgresCompaction } from './wall/compaction.ts'
import { postgresLog } from './wall/log.ts'
import { postgresModeration } from './wall/moderation.ts'
import { checking, put, writeAll } from './writes.ts'

/** The ports of an open database, and its books. */
export type Postgres = Engine & { readonly audit: Audit }

/** The books of a database, and letting go of it. */
export type OpenAudit = Audit & { instances(): Promise<number>; close(): Promise<void> }

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
  const connection = await opened(url, prepare, answerMs)
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

/** Opens the database at a URL for reading its books alone. Throws `CannotOpen`. */
export async function openPostgresAudit(url: string): Promise<OpenAudit> {
  const connection = await opened(url, (connection) => connection.apart(checkSchema))
  return {
    ...postgresAudit(
      connection,
      checking(() => {}),
    ),
    async instances() {
      const [row] = await connection.rows<{ count: number }>(INSTANCES)
      return row?.count ?? 0
    },
    close: connection.close,
  }
}

// Each process that has a wall open listens once.
const INSTANCES = `
  SELECT count(*) AS count FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = '${WALL_NAME}' AND query ILIKE 'LISTEN %'`

/** A connection on which `prepare` went well. */
async function opened(
  url: string,
  prepare: (connection: Connection) => Promise<void>,
  answerMs?: number,
): Promise<Connection> {
  const connection = connectTo(url, answerMs)
  try {
    await prepare(connection)
    return connection
  } catch (error) {
    await connection.close()
    if (error instanceof CannotOpen) throw error
    const code = codeOf(error)
    const why = code !== undefined ? wordsFor(code) : error instanceof Error ? error.message : 'it does not answer'
    throw new CannotOpen(`the database at ${hostOf(url)} cannot be used: ${why}`)
  }
}

function connectTo(url: string, answerMs: number | undefined): Connection {
  if (!URL.canParse(url)) throw new CannotOpen('the address of the database is no URL')
  try {
    return connect(url, answerMs)
  } catch {
    throw new CannotOpen('the address of the database is not one of PostgreSQL')
  }
}

/** A database's place without the secrets of its URL. */
export function hostOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
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

// Longer than any commit should take, shorter than those who wait for it wait.
const WRITE_MS = 3000

const NO_STANDBY: WriteFailure = { of: 'standby', reason: 'no synchronous standby of the database confirms commits' }

function postgresStore({ rows, transaction, watermark }: Connection): Store {
  const awaitsStandby = async () => (await rows(AWAITS_STANDBY)).length > 0
  return {
    async tryWrite() {
      try {
        // A commit that waits for a standby waits for ever, so no further one is begun.
        if (await awaitsStandby()) return NO_STANDBY
        const writing = transaction(null, ({ write }) => write('SELECT 1')).then(() => null, writeFailure)
        const result = await Promise.race([writing, Bun.sleep(WRITE_MS)])
        if (result !== undefined) return result
        return (await awaitsStandby())
          ? NO_STANDBY
          : { of: 'store-write', reason: 'the database takes no write in time' }
      } catch (error) {
        return writeFailure(error)
      }
    },
    watch: watermark.watch,
    ready: async () => {
      try {
        return (await rows('SELECT state FROM blocks WHERE i = 0')).length === 1
      } catch {
        return false
      }
    },
    async position() {
      const [row] = await rows<{ change: number; payment: number | null; height: number | null }>(POSITION)
      if (row === undefined) throw new Error('the wall has lost its counters')
      watermark.rise({ change: row.change, payment: row.payment ?? 0 })
      return { change: row.change, payment: row.payment ?? 0, height: BigInt(row.height ?? 0) }
    },
  }
}

const writeFailure = (error: unknown): WriteFailure => ({
  of: 'store-write',
  reason: error instanceof Error ? error.message : 'the database fails',
})

// Whoever may not see the sessions of others sees those of its own user.
const AWAITS_STANDBY = `
  SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event = 'SyncRep' AND clock_timestamp() - query_start > interval '2 seconds'
  LIMIT 1`

const POSITION = `
  SELECT number AS change, (SELECT max(id) FROM payments) AS payment, (SELECT seen_height FROM wall) AS height
  FROM counters`
