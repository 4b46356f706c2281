/** A handful of connections to one server: borrowing one, and never waiting for ever. */

import { SQL, type ReservedSQL } from 'bun'
import { StoreUnavailable } from '../../server/domain/failure.ts'
import { CHANNEL, type Bound } from '../fragments.ts'
import type { Result } from '../tx.ts'
import { codeOf, inOurWords, isLost } from './errors.ts'
import { openSlots, type Slot } from './slots.ts'

/** Statements, run one after the other. `Row` says what columns hold, which the tables' CHECKs make true. */
export type Queries = {
  /** The rows of a statement; whole numbers are numbers, whatever their size in the table. */
  rows<Row>(text: string, values?: readonly Bound[]): Promise<readonly Row[]>
}

/** A borrowed connection. */
export type Session = Queries & {
  /** Runs statements in their order, in one exchange where each of them has values. Of several errors the first is thrown. */
  all(statements: readonly BoundStatement[]): Promise<readonly Result[]>
  /** Runs SQL without values, several statements at once if need be; answers the rows of the first. */
  run(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
}

type BoundStatement = { readonly text: string; readonly values: readonly Bound[] }

export type Listening = { readonly ended: Promise<void>; stop(): Promise<void> }

/** Connections to one server, opened when they are needed. Errors of the server come out as they are. */
export type Pool = {
  /** Runs `work` with a connection, within a few seconds. A transaction it leaves open is rolled back. */
  borrow<T>(work: (session: Session) => Promise<T>): Promise<T>
  /** The same for as long as it takes, with no deadline. Throws `StoreUnavailable` for errors of the server. */
  apart<T>(work: (session: Session) => Promise<T>): Promise<T>
  /**
   * Calls `notify` whenever a transaction that notifies is kept, and once at first, since one may have been missed, for as long
   * as its connection lasts. Throws `StoreUnavailable`.
   */
  listen(notify: () => void): Promise<Listening>
  isOpen(): boolean
  /** Lets go of the server, once what is under way has ended; from then on the database is unavailable. */
  close(): Promise<void>
}

/** How many connections a process has beside the one that listens. */
export const CONNECTIONS = 8

// The server's own limits come first, so that its answer says what happened.
const STATEMENT_MS = 4000
const LOCK_MS = 3000

const CONNECT_SECONDS = 2
const CLOSE_SECONDS = 5

/** How processes that have a wall open call themselves to the server. */
export const WALL_NAME = 'pixel-wall'

const settings = {
  statement_timeout: STATEMENT_MS,
  lock_timeout: LOCK_MS,
  idle_in_transaction_session_timeout: STATEMENT_MS,
  default_transaction_isolation: 'read committed',
  synchronous_commit: 'on',
  // A machine that vanishes lets go of its locks within half a minute.
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  timezone: 'UTC',
  // Nobody else sets this, so a pooler that keeps settings back is seen to.
  'wall.set_by': WALL_NAME,
}

/** How a pool is opened. */
export type PoolOptions = {
  readonly name?: string // how its connections call themselves to the server
  readonly inspect?: (session: Session) => Promise<void> // looks at each new connection before its first use; may refuse it
}

/** Makes a pool for a server that answers within `answerMs`. Throws a `TypeError` for what is no URL. */
export function openPool(url: string, answerMs: number, { name = WALL_NAME, inspect }: PoolOptions = {}): Pool {
  const connect = connector(url, name)
  const slots = openSlots(connect, CONNECTIONS, answerMs)
  const listening = new Set<Listening>()
  let open = true
  const borrow = async <T>(work: (session: Session) => Promise<T>, deadlineMs?: number): Promise<T> => {
    if (!open) throw new StoreUnavailable('the database is closed')
    return await slots.use((slot) => onSlot(slot, { answerMs, deadlineMs, inspect }, work))
  }
  return {
    borrow: (work) => borrow(work, answerMs),
    apart: async (work) => {
      try {
        return await borrow(work)
      } catch (error) {
        throw inOurWords(error)
      }
    },
    async listen(notify) {
      const ended = Promise.withResolvers<void>()
      // Left to itself, Bun would listen again after up to half a minute, and print what the server says meanwhile.
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
        // A notification from before this is lost, so the beginning counts as one.
        await listener.listen(CHANNEL, notify, notify)
        return one
      } catch (error) {
        await one.stop()
        throw inOurWords(error)
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
  readonly inspect: PoolOptions['inspect'] | undefined
}

/** Does work on a slot's connection, which is looked at first if it is new. */
async function onSlot<T>(
  slot: Slot,
  { answerMs, deadlineMs, inspect }: Use,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const client = await reserve(slot.sql, answerMs)
  // Closing it is what ends a statement that is never answered.
  const end = () => void client.close({ timeout: 0 }).catch(() => {})
  const late = deadlineMs === undefined ? undefined : setTimeout(end, deadlineMs)
  try {
    const session = sessionOf(client)
    if (!slot.isInspected) await inspect?.(session)
    slot.isInspected = true
    const result = await work(session)
    await client.release()
    return result
  } catch (error) {
    // The next one may lead elsewhere.
    if (slot.isInspected) await giveBack(client, error)
    else await client.close({ timeout: 0 }).catch(() => {})
    throw error
  } finally {
    clearTimeout(late)
  }
}

function connector(url: string, name: string) {
  return (options: { readonly onconnect?: () => void; readonly onclose?: () => void }) =>
    new SQL(url, {
      max: 1,
      ...partsOf(new URL(url)),
      adapter: 'postgres',
      bigint: true,
      connectionTimeout: CONNECT_SECONDS,
      connection: { ...settings, application_name: name },
      ...options,
    })
}

/** What a URL names, said again: Bun lets variables of the environment go before parts of a URL. */
function partsOf({ username, password, pathname }: URL) {
  const decoded = { username, password, database: pathname.slice(1) }
  const given = Object.entries(decoded).filter(([, part]) => part !== '')
  return Object.fromEntries(given.map(([name, part]) => [name, decodeURIComponent(part)]))
}

async function reserve(sql: SQL, answerMs: number): Promise<ReservedSQL> {
  try {
    return await sql.reserve({ signal: AbortSignal.timeout(answerMs) })
  } catch (error) {
    throw codeOf(error) === undefined ? new StoreUnavailable('no database connection is available') : error
  }
}

/** A connection on which something failed: whatever it had begun is undone, or it is used no more. */
async function giveBack(client: ReservedSQL, error: unknown): Promise<void> {
  try {
    if (isLost(error)) return await client.close({ timeout: 0 })
    await client.unsafe('ROLLBACK').simple()
    await client.release()
  } catch {
    await client.close({ timeout: 0 }).catch(() => {})
  }
}

type Answered = readonly Readonly<Record<string, unknown>>[] & { readonly count: number | null }

function sessionOf(client: ReservedSQL): Session {
  return {
    async rows<Row>(text: string, values: readonly Bound[] = []) {
      const rows: readonly Record<string, unknown>[] = await client.unsafe(text, [...values])
      return rows.map((row) => plain(row)) as readonly Row[]
    },
    async all(statements) {
      const sent = await Promise.allSettled(
        statements.map(({ text, values }) => client.unsafe<Answered>(text, [...values])),
      )
      // What follows an error in a transaction is refused for that alone.
      const failed = sent.find((answer) => answer.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      return sent.flatMap((answer) =>
        answer.status === 'fulfilled'
          ? [{ rows: answer.value.map((row) => plain(row)), count: Number(answer.value.count) }]
          : [],
      )
    },
    async run(text) {
      const results: readonly unknown[] = await client.unsafe(text).simple()
      // Of several statements there is a list of rows each.
      const first = Array.isArray(results[0]) ? results[0] : results
      return (first as readonly Readonly<Record<string, unknown>>[]).map((row) => plain(row))
    },
  }
}

/** The same row with numbers and bytes as SQLite gives them. */
function plain(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const cells: Record<string, unknown> = {}
  for (const name of Object.keys(row)) {
    const cell = row[name]
    if (typeof cell === 'bigint') cells[name] = exact(cell)
    else cells[name] = cell instanceof Uint8Array ? new Uint8Array(cell) : cell
  }
  return cells
}

function exact(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError('a number of the database is too large')
  return Number(value)
}
