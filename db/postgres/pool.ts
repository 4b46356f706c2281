/** A few connections to one server, each lent to one caller at a time, with time limits on waiting. */

import { SQL, type ReservedSQL } from 'bun'
import { StoreUnavailable } from '../../server/domain/failure.ts'
import { CHANNEL, type Bound } from '../fragments.ts'
import type { Result } from '../tx.ts'
import { getErrorCode, toStoreError, isConnectionLost } from './errors.ts'
import { openSlots, type Slot } from './slots.ts'

/** Statements, run one after the other. `Row` has the column types, which the tables' CHECKs guarantee. */
export type Queries = {
  /** The rows of a statement; integers are returned as numbers, whatever the size of their column. */
  queryRows<Row>(text: string, values?: readonly Bound[]): Promise<readonly Row[]>
}

/** A borrowed connection. */
export type Session = Queries & {
  /** Runs statements in order, in one exchange if each of them has values. Throws the first of several errors. */
  runAll(statements: readonly BoundStatement[]): Promise<readonly Result[]>
  /** Runs SQL without values, several statements together if needed. */
  run(text: string): Promise<void>
}

type BoundStatement = { readonly text: string; readonly values: readonly Bound[] }

export type Listening = { readonly ended: Promise<void>; stop(): Promise<void> }

/** Connections to one server, opened on demand. Errors of the server are thrown unchanged. */
export type Pool = {
  /** Runs `work` with a connection, for a few seconds at most. If it throws, its transaction is rolled back. */
  borrow<T>(work: (session: Session) => Promise<T>): Promise<T>
  /** Like `borrow`, but without a time limit. Throws `StoreUnavailable` for errors of the server. */
  borrowWithoutTimeout<T>(work: (session: Session) => Promise<T>): Promise<T>
  /**
   * Calls `notify` whenever a notifying transaction is committed, for as long as the connection lasts. Also calls
   * `notify` once at the beginning, because a notification may have been missed. Throws `StoreUnavailable`.
   */
  listen(notify: () => void): Promise<Listening>
  isOpen(): boolean
  /** Rejects further work, and disconnects once work in progress has ended. */
  close(): Promise<void>
}

/** How many connections a process has, besides the one that listens. */
export const CONNECTIONS = 8

// These limits, which the server enforces, are shorter than `answerMs`, so that its response says what happened.
const STATEMENT_MS = 4000
const LOCK_MS = 3000

const CONNECT_SECONDS = 2
const CLOSE_SECONDS = 5

/** The application name of processes with an open wall. */
export const WALL_NAME = 'pixel-wall'

/** The settings of each session. The wall refuses a pooler that drops them. */
export const SESSION_SETTINGS = {
  statement_timeout: STATEMENT_MS,
  lock_timeout: LOCK_MS,
  idle_in_transaction_session_timeout: STATEMENT_MS,
  default_transaction_isolation: 'read committed',
  synchronous_commit: 'on',
  // The locks of a machine that vanishes are released within half a minute.
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  // A generic plan is made once per statement; this suffices because each statement finds its rows by an index,
  // whatever its values are.
  plan_cache_mode: 'force_generic_plan',
  // Otherwise, a plan made while a table had few rows would continue to read the whole table as it grows.
  enable_seqscan: 'off',
  timezone: 'UTC',
  // Only the wall sets this parameter, so its value shows whether a pooler drops settings.
  'wall.set_by': WALL_NAME,
}

/** How a pool is opened. */
export type PoolOptions = {
  readonly name?: string // the application name of its connections
  /** Checks each new connection before its first use; may reject it. */
  readonly checkConnection?: (session: Session) => Promise<void>
}

/** Makes a pool for a server that responds within `answerMs`. Throws a `TypeError` for an invalid URL. */
export function openPool(url: string, answerMs: number, { name = WALL_NAME, checkConnection }: PoolOptions = {}): Pool {
  const connect = createConnector(url, name)
  const slots = openSlots(connect, CONNECTIONS, answerMs)
  const listening = new Set<Listening>()
  let open = true
  const borrow = async <T>(work: (session: Session) => Promise<T>, deadlineMs?: number): Promise<T> => {
    if (!open) throw new StoreUnavailable('the database is closed')
    return await slots.runOnFreeSlot((slot) => runOnSlot(slot, { answerMs, deadlineMs, checkConnection }, work))
  }
  return {
    borrow: (work) => borrow(work, answerMs),
    borrowWithoutTimeout: async (work) => {
      try {
        return await borrow(work)
      } catch (error) {
        throw toStoreError(error)
      }
    },
    async listen(notify) {
      const ended = Promise.withResolvers<void>()
      // By default, Bun would wait up to half a minute before it listens again, and print the server's messages in the
      // meantime.
      const end = () => void listener.close({ timeout: 0 }).then(ended.resolve, ended.resolve)
      const listener = connect({ onclose: end })
      const one: Listening = {
        ended: ended.promise.finally(() => listening.delete(one)),
        stop() {
          end()
          return one.ended
        },
      }
      listening.add(one)
      try {
        if (!open) throw new StoreUnavailable('the database is closed')
        // Earlier notifications are lost, so the start of listening counts as a notification.
        await listener.listen(CHANNEL, notify, notify)
        return one
      } catch (error) {
        await one.stop()
        throw toStoreError(error)
      }
    },
    isOpen: () => open,
    async close() {
      open = false
      await Promise.all([...listening].map(({ stop }) => stop()))
      await slots.close(CLOSE_SECONDS)
    },
  }
}

type Use = {
  readonly answerMs: number
  readonly deadlineMs: number | undefined
  readonly checkConnection: PoolOptions['checkConnection'] | undefined
}

/** Runs work on a slot's connection, which is checked first if it is new. */
async function runOnSlot<T>(
  slot: Slot,
  { answerMs, deadlineMs, checkConnection }: Use,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const client = await reserveConnection(slot.sql, answerMs)
  // If a statement gets no response, only closing the connection ends it.
  const end = () => void client.close({ timeout: 0 }).catch(() => {})
  const late = deadlineMs === undefined ? undefined : setTimeout(end, deadlineMs)
  try {
    const session = createSession(client)
    if (!slot.isInspected) await checkConnection?.(session)
    slot.isInspected = true
    const result = await work(session)
    await client.release()
    return result
  } catch (error) {
    // A connection that was not accepted is closed, because the next one may lead to another server.
    if (slot.isInspected) await releaseAfterError(client, error)
    else await client.close({ timeout: 0 }).catch(() => {})
    throw error
  } finally {
    clearTimeout(late)
  }
}

function createConnector(url: string, name: string) {
  return (options: { readonly onconnect?: () => void; readonly onclose?: () => void }) =>
    new SQL(url, {
      max: 1,
      ...parseUrlParts(new URL(url)),
      adapter: 'postgres',
      bigint: true,
      connectionTimeout: CONNECT_SECONDS,
      connection: { ...SESSION_SETTINGS, application_name: name },
      ...options,
    })
}

/** The parts of a URL, passed explicitly because Bun gives environment variables precedence over the URL. */
function parseUrlParts({ username, password, pathname }: URL) {
  const decoded = { username, password, database: pathname.slice(1) }
  const given = Object.entries(decoded).filter(([, part]) => part !== '')
  return Object.fromEntries(given.map(([name, part]) => [name, decodeURIComponent(part)]))
}

async function reserveConnection(sql: SQL, answerMs: number): Promise<ReservedSQL> {
  try {
    return await sql.reserve({ signal: AbortSignal.timeout(answerMs) })
  } catch (error) {
    throw getErrorCode(error) === undefined ? new StoreUnavailable('no database connection is available') : error
  }
}

/** Releases a connection after an error: rolls its transaction back, or closes the connection. */
async function releaseAfterError(client: ReservedSQL, error: unknown): Promise<void> {
  try {
    if (isConnectionLost(error)) return await client.close({ timeout: 0 })
    await client.unsafe('ROLLBACK').simple()
    await client.release()
  } catch {
    await client.close({ timeout: 0 }).catch(() => {})
  }
}

type Answered = readonly Readonly<Record<string, unknown>>[] & { readonly count: number | null }

function createSession(client: ReservedSQL): Session {
  return {
    async queryRows<Row>(text: string, values: readonly Bound[] = []) {
      const rows: readonly Record<string, unknown>[] = await client.unsafe(text, [...values])
      return rows.map((row) => toPlainRow(row)) as readonly Row[]
    },
    async runAll(statements) {
      const sent = await Promise.allSettled(
        statements.map(({ text, values }) => client.unsafe<Answered>(text, [...values])),
      )
      // The first error is the cause: after an error in a transaction, every further statement fails, too.
      const failed = sent.find((answer) => answer.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      return sent.flatMap((answer) =>
        answer.status === 'fulfilled'
          ? [{ rows: answer.value.map((row) => toPlainRow(row)), count: Number(answer.value.count) }]
          : [],
      )
    },
    async run(text) {
      await client.unsafe(text).simple()
    },
  }
}

/** Converts a row's numbers and bytes to the types that SQLite returns. */
function toPlainRow(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const cells: Record<string, unknown> = {}
  for (const name of Object.keys(row)) {
    const cell = row[name]
    if (typeof cell === 'bigint') cells[name] = toSafeInteger(cell)
    else cells[name] = cell instanceof Uint8Array ? new Uint8Array(cell) : cell
  }
  return cells
}

function toSafeInteger(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError('a number from the database is too large')
  return Number(value)
}
