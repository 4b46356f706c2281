/**
 * The connections to a database server, and what a transaction is on them.
 *
 * Isolation is READ COMMITTED: a transaction first takes the locks of what it is about, and every statement then sees all
 * that was committed before. SERIALIZABLE would take its picture before it waits for the counters, and fail most writers
 * of a busy wall. The order of locks, the same for all, so that nobody waits in a circle:
 *
 *   1. the wallet (an advisory lock): its payments, what is held for it, what it says of itself
 *   2. blocks: the one that is held or edited; of open ones, those that nobody else has locked
 *   3. the counters, which every entry of the log needs: last, and kept for two statements and the commit
 *
 * A commit whose answer is lost is never guessed at. Its transaction leaves a token as its last act, and a later
 * connection looks for it; by looking, it makes sure that a commit still under way can only fail.
 */

import { StoreUnavailable } from '../../server/domain/failure.ts'
import type { Address } from '../../server/domain/purchase/payment.ts'
import type { Progress } from '../../server/domain/store-position.ts'
import { TIMES } from '../../server/times.ts'
import { CannotOpen, CannotOpenYet } from '../cannot-open.ts'
import { compile, type Bound } from '../fragments.ts'
import { TABLES_VERSION } from '../migrations.ts'
import type { Driver, Result, Tx } from '../tx.ts'
import {
  codeOf,
  CommitUnknown,
  constraintOf,
  inOurWords,
  isOutdated,
  isPassing,
  isRefusedCommit,
  wordsFor,
} from './errors.ts'
import { MOVED, NOTE } from './migration-marker.ts'
import { CONNECTIONS, openPool, type Pool, type Session } from './pool.ts'
import { PROGRESS, watermark, type Watermark } from './watermark.ts'

/** The connections of one process to one database. */
export type Connection = Pick<Pool, 'apart' | 'listen' | 'isOpen' | 'close'> & {
  /** What this process has seen of the database; older copies of it are refused once it has begun. */
  readonly watermark: Watermark
  /** Runs one statement that only reads, or that does no more when it is run twice. Throws `StoreUnavailable`. */
  rows<Row>(text: string, values?: readonly Bound[]): Promise<readonly Row[]>
  /** Runs work that only reads, one statement after the other. Throws `StoreUnavailable`. */
  look<T>(work: () => Tx<T>): Promise<T>
  /** The same, as of one moment. */
  read<T>(work: () => Tx<T>): Promise<T>
  /**
   * Runs work as one transaction, under the lock of the wallet it is about: all of it is kept, or nothing. Throws
   * `StoreUnavailable` when nothing was kept, or `CommitUnknown` when a commit was cut off and the database cannot be asked: what
   * it wrote is then there or not when it is next looked up.
   */
  write<T>(about: Address | null, work: () => Tx<T>): Promise<T>
}

// A server that is replaced is away for a moment.
const WAITS_MS = [50, 200, 500]
const TIMEOUT_MS = 3000

// How long to go on asking what became of a commit, in answers that do not come.
const ASK_FOR = 1.5
const ASK_EVERY_MS = 100

const TIDY_EVERY = 500

/** Makes the connections to a database; none is opened yet. */
export function connect(url: string, answerMs = TIMES.databaseAnswerTimeoutMs): Connection {
  const mark = watermark()
  const pool = openPool(url, answerMs, { inspect: mark.inspect })
  const { borrow, apart, listen, isOpen, close } = pool
  let commits = 0
  const tidy = () => {
    commits += 1
    if (commits % TIDY_EVERY === 0) void borrow(({ run }) => run(FORGET_OLD)).catch(() => {})
  }
  return {
    watermark: mark,
    apart,
    listen,
    isOpen,
    close,
    rows: (text, values) => retried(() => borrow((session) => session.rows(text, values))),
    look: (work) => retried(() => borrow((session) => drive(session, work()))),
    read: (work) =>
      retried(() =>
        borrow(async (session) => {
          await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
          const result = await drive(session, work())
          await session.run('COMMIT')
          return result
        }),
      ),
    async write(about, work) {
      const { result } = await retried(() => attempt(pool, mark, answerMs * ASK_FOR, about, work))
      tidy()
      return result
    },
  }
}

/** The driver of a connection: nobody shares a commit, and others write, so nothing lasts. */
export const postgresDriver = ({ look, read, write }: Connection): Driver => ({
  look,
  read,
  write,
  writeTogether: write,
  lasting: (work) => (key) => look(() => work(key)),
})

/** Connects to the database at a URL, on which `prepare` must go well. Throws `CannotOpen`, which names the server and never the password. */
export async function openConnection(
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
    const why = code !== undefined ? wordsFor(code) : error instanceof Error ? error.message : 'it does not respond'
    throw new CannotOpenYet(`the database at ${hostOf(url)} cannot be used: ${why}`)
  }
}

function connectTo(url: string, answerMs: number | undefined): Connection {
  if (!URL.canParse(url)) throw new CannotOpen('the address of the database is not a URL')
  try {
    return connect(url, answerMs)
  } catch {
    throw new CannotOpen('the address of the database is not a PostgreSQL URL')
  }
}

/** A database's place without the secrets of its URL. */
export function hostOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

/** Runs work again that did nothing, for as long as it may well succeed. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const waits = WAITS_MS.values()
  for (let outdated = 0; ;) {
    try {
      return await work()
    } catch (error) {
      // Each such failure costs one connection, and the next one knows the tables as they are.
      if (isOutdated(error) && outdated < CONNECTIONS) {
        outdated += 1
        continue
      }
      const wait = waits.next()
      if (wait.done === true || performance.now() - began > TIMEOUT_MS || !isPassing(error)) throw inOurWords(error)
      await Bun.sleep(wait.value)
    }
  }
}

/** Runs a transaction once. What is thrown means that nothing was kept, or that nobody can tell. */
async function attempt<T>(
  pool: Pool,
  mark: Watermark,
  askForMs: number,
  about: Address | null,
  work: () => Tx<T>,
): Promise<{ readonly result: T }> {
  const token = crypto.randomUUID()
  let committing: { readonly result: T } | undefined
  try {
    return await pool.borrow(async (session) => {
      await session.run(about === null ? 'BEGIN' : `BEGIN; ${lockOf(about)}`)
      let isWritten = false
      const result = await drive(session, work(), () => void (isWritten = true))
      if (isWritten) {
        committing = { result }
        const [progress] = await session.run(commitWith(token, mark.seen()))
        if (progress !== undefined) mark.rise(progress as Progress)
      } else await session.run('ROLLBACK')
      return { result }
    })
  } catch (error) {
    const refusal = committing === undefined ? undefined : commitRefusal(error)
    if (refusal !== undefined) throw new StoreUnavailable(refusal, { cause: error })
    if (committing === undefined || isRefusedCommit(error)) throw error
    if (await wasKept(pool, askForMs, token)) return committing
    throw error
  }
}

/** Runs work on a session, a list of statements in one exchange; `onWrite` is told before one that writes is sent. */
async function drive<T>({ all }: Session, work: Tx<T>, onWrite = () => {}): Promise<T> {
  let step = work.next()
  while (step.done !== true) {
    const statements = step.value.map((statement) => ({ values: statement.values, ...compile(statement, 'postgres') }))
    if (statements.some(({ isWrite }) => isWrite)) onWrite()
    const sent = await all(
      statements.flatMap(({ sql, bind, values }) => (sql === '' ? [] : [{ text: sql, values: bind(values) }])),
    )
    const results = sent.values()
    step = work.next(statements.map(({ sql }) => (sql === '' ? NO_RESULT : (results.next().value ?? NO_RESULT))))
  }
  return step.value
}

const NO_RESULT: Result = { rows: [], count: 0 }

/** Asks what became of a commit, and sees to it that the answer stays true. Throws `CommitUnknown`. */
async function wasKept({ borrow, isOpen }: Pool, askForMs: number, token: string): Promise<boolean> {
  const began = performance.now()
  for (;;) {
    try {
      const [row] = await borrow((session) => session.rows<{ kept: number }>(ASK, [token]))
      return row?.kept === 1
    } catch {
      if (!isOpen() || performance.now() - began > askForMs)
        throw new CommitUnknown('the result of a commit is not known yet')
      await Bun.sleep(ASK_EVERY_MS)
    }
  }
}

// Waits for a transaction that has left the token and is not at its end; one that has not left it yet fails when it does.
const ASK = `
  INSERT INTO commits (token, kept, tables) VALUES ($1::uuid, 0, ${TABLES_VERSION})
  ON CONFLICT (token) DO UPDATE SET token = excluded.token RETURNING kept`

/**
 * Ends a transaction, and answers how far the database has come by it. On an older copy, and where the wall has moved away
 * meanwhile, the token is no token, so that nothing is kept. A move takes locks that wait for transactions which have written,
 * so whoever commits after it sees its note here. A commit that waits for a standby must not be hurried: a timeout would have it answered without the standby.
 */
const commitWith = (token: string, { change, payment }: Progress) => `
  WITH progress AS (${PROGRESS}), written AS (
    INSERT INTO commits (token, kept, tables)
    SELECT '${token}'::uuid, CASE WHEN EXISTS (${NOTE}) THEN 2 WHEN change >= ${change} AND payment >= ${payment} THEN 1 END,
      ${TABLES_VERSION} FROM progress)
  SELECT * FROM progress;
  SET LOCAL statement_timeout = 0; COMMIT`

/** Why the table of tokens takes no token of a commit, so that nothing is kept; `undefined` for another error. */
function commitRefusal(error: unknown): string | undefined {
  const code = codeOf(error)
  if (code === NOT_NULL_VIOLATION) return 'the database is older than the state this wall has seen'
  if (code !== CHECK_VIOLATION) return undefined
  return constraintOf(error) === 'commits_kept_check' ? MOVED : 'the database was upgraded by a newer version'
}
const NOT_NULL_VIOLATION = '23502'
const CHECK_VIOLATION = '23514'

// Nobody asks after more than some seconds.
const FORGET_OLD = `
  DELETE FROM commits WHERE at < now() - interval '15 minutes';
  DELETE FROM leases WHERE until < now() - interval '15 minutes'`

/** Statement that waits for the lock of a wallet. Two that share a number by chance only wait for each other. */
const lockOf = (wallet: Address): string =>
  `SELECT pg_advisory_xact_lock(${BigInt.asIntN(64, Bun.hash.xxHash64(wallet))})`
