/**
 * The connections to a database server, and its transactions.
 *
 * Isolation is READ COMMITTED: a transaction first takes the locks on its subject, and every later statement sees
 * everything committed before that statement. Under SERIALIZABLE, a transaction would take its snapshot before it waits
 * for the counters, and most writers of a busy wall would fail. All transactions take locks in the same order, so that
 * deadlocks cannot occur:
 *
 *   1. the wallet (an advisory lock): its payments, its holds, its names; the search for an open area
 *   2. blocks: those that are held or edited; if open ones are wanted, only blocks that nobody else has locked
 *   3. the counters, which every entry of the log needs: taken last, and held for two statements and the commit
 *
 * Writes that wait at the same time share a transaction and run side by side (`group-commit.ts`). The shared
 * transaction waits for no lock but the one on the counters (and one on an open block, if others have locked all open
 * blocks). It takes the counters once each of its writes needs them or has ended. A write to something that another
 * transaction has locked is stored alone.
 *
 * If the response to a commit is lost, the outcome of the commit is never guessed. The last statement of a transaction
 * writes a token, and a later connection looks for it. This look-up also makes sure that a commit still in progress can
 * only fail.
 */

import { StoreUnavailable } from '../../server/domain/failure.ts'
import type { Address } from '../../server/domain/purchase/payment.ts'
import type { Progress } from '../../server/domain/store-position.ts'
import { TIMES } from '../../server/times.ts'
import { CannotOpen, CannotOpenYet } from '../cannot-open.ts'
import { compileStatement, type Bound } from '../fragments.ts'
import { TABLES_VERSION } from '../migrations.ts'
import { doNothing, runTogether, type Driver, type Lockable, type Result, type Tx } from '../tx.ts'
import {
  getErrorCode,
  CommitUnknown,
  getConstraint,
  toStoreError,
  isOutdated,
  isTransient,
  isRefusedCommit,
  describeSqlState,
} from './errors.ts'
import { createGroupCommit, type Write } from './group-commit.ts'
import { type Begin, beginWithFreeLocks, beginWithAllLocks, type Locked, toLockKey } from './locks.ts'
import { MOVED, NOTE } from './migration-marker.ts'
import { CONNECTIONS, openPool, type Pool, type Session } from './pool.ts'
import { PROGRESS, createWatermark, type Watermark } from './watermark.ts'

/** The connections of one process to one database. */
export type Connection = Pick<Pool, 'borrowWithoutTimeout' | 'listen' | 'isOpen' | 'close'> & {
  /** The newest known position of the database; once checks have started, connections to older copies are rejected. */
  readonly watermark: Watermark
  /** Runs one statement that only reads, or that is idempotent. Throws `StoreUnavailable`. */
  queryRows<Row>(text: string, values?: readonly Bound[]): Promise<readonly Row[]>
  /** Runs work that only reads, one statement after the other. Throws `StoreUnavailable`. */
  query<T>(work: () => Tx<T>): Promise<T>
  /** Like `query`, but reads from one snapshot. */
  read<T>(work: () => Tx<T>): Promise<T>
  /**
   * Runs work as one transaction, under the lock of its wallet: all of it is stored, or nothing. Throws
   * `StoreUnavailable` if nothing was stored. Throws `CommitUnknown` if the commit was cut off and the database does
   * not respond; the next look-up shows whether the writes were stored.
   */
  write<T>(about: Address | null, work: () => Tx<T>): Promise<T>
  /** Like `write`, but shares one transaction with other waiting writes; each is stored or rolled back separately. */
  writeTogether<T>(about: readonly Lockable[], work: () => Tx<T>): Promise<T>
}

// A server that is being replaced is unavailable for a moment.
const WAITS_MS = [50, 200, 500]
const TIMEOUT_MS = 3000

// How long to keep querying the outcome of a commit, in multiples of the response timeout.
const ASK_FOR = 1.5
const ASK_EVERY_MS = 100

const TIDY_EVERY = 500

/** Makes the connections to a database; none is opened yet. */
export function connect(url: string, answerMs = TIMES.databaseAnswerTimeoutMs): Connection {
  const mark = createWatermark()
  const pool = openPool(url, answerMs, { checkConnection: mark.checkConnection })
  const { borrow, borrowWithoutTimeout, listen, isOpen, close } = pool
  let commits = 0
  const cleanUpPeriodically = () => {
    commits += 1
    if (commits % TIDY_EVERY === 0) void borrow(({ run }) => run(FORGET_OLD)).catch(() => {})
  }
  const commit = async <T>(begin: Begin, work: Begun<T>): Promise<T> => {
    const { result } = await attemptTransaction(pool, mark, answerMs * ASK_FOR, begin, work)
    cleanUpPeriodically()
    return result
  }
  const commitAlone = <T>({ about, work }: Write<T>) =>
    retryTransientFailures(() => commit(beginWithAllLocks(about), work))
  const writeInGroup = createGroupCommit({
    commitAlone,
    commitTogether: (writes) =>
      commit(beginWithFreeLocks(writes.flatMap(({ about }) => about)), (locked) =>
        runTogether(
          ...writes.map(({ about, work }) => (about.every((one) => locked.has(toLockKey(one))) ? work() : doNothing())),
        ),
      ),
  })
  return {
    watermark: mark,
    borrowWithoutTimeout,
    listen,
    isOpen,
    close,
    queryRows: (text, values) => retryTransientFailures(() => borrow((session) => session.queryRows(text, values))),
    query: (work) => retryTransientFailures(() => borrow((session) => drive(session, work()))),
    read: (work) =>
      retryTransientFailures(() =>
        borrow(async (session) => {
          await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
          const result = await drive(session, work())
          await session.run('COMMIT')
          return result
        }),
      ),
    write: (about, work) => commitAlone({ about: about === null ? [] : [about], work }),
    // A search for an open area takes the one lock for all such searches, so it shares a transaction with no other
    // work.
    writeTogether: (about, work) => (about.includes('nearest area') ? commitAlone : writeInGroup)({ about, work }),
  }
}

/** The driver of a connection: nothing is cached, because other processes write. */
export const createPostgresDriver = ({ query, read, write, writeTogether }: Connection): Driver => ({
  query,
  read,
  write,
  writeTogether,
  createCachedLookUp: (work) => (key) => query(() => work(key)),
})

/**
 * Connects to the database at a URL and runs `prepare`. Throws `CannotOpen`, which names the server and never the
 * password.
 */
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
    const code = getErrorCode(error)
    const why =
      code !== undefined ? describeSqlState(code) : error instanceof Error ? error.message : 'it does not respond'
    throw new CannotOpenYet(`the database at ${formatDatabaseLocation(url)} cannot be used: ${why}`)
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

/** The location of a database without the secrets in its URL. */
export function formatDatabaseLocation(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

/** Retries work that failed without effect, as long as it may still succeed. */
async function retryTransientFailures<T>(work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const waits = WAITS_MS.values()
  for (let outdated = 0; ;) {
    try {
      return await work()
    } catch (error) {
      // Each such failure closes one connection, and the connection that replaces it knows the current tables.
      if (isOutdated(error) && outdated < CONNECTIONS) {
        outdated += 1
        continue
      }
      const wait = waits.next()
      if (wait.done === true || performance.now() - began > TIMEOUT_MS || !isTransient(error)) throw toStoreError(error)
      await Bun.sleep(wait.value)
    }
  }
}

/** The work of a transaction that has begun, with the keys of the locks that it got. */
type Begun<T> = (locked: Locked) => Tx<T>

/** Runs a transaction once. An exception means that nothing was stored, or that the outcome is unknown. */
async function attemptTransaction<T>(
  pool: Pool,
  mark: Watermark,
  askForMs: number,
  begin: Begin,
  work: Begun<T>,
): Promise<{ readonly result: T }> {
  const token = crypto.randomUUID()
  let committing: { readonly result: T } | undefined
  try {
    return await pool.borrow(async (session) => {
      const locked = await begin(session)
      let isWritten = false
      const result = await drive(session, work(locked), () => void (isWritten = true))
      if (isWritten) {
        committing = { result }
        mark.advance(await commitWithToken(token, mark.getProgress(), session))
      } else await session.run('ROLLBACK')
      return { result }
    })
  } catch (error) {
    const refusal = committing === undefined ? undefined : describeCommitRefusal(error)
    if (refusal !== undefined) throw new StoreUnavailable(refusal, { cause: error })
    if (committing === undefined || isRefusedCommit(error)) throw error
    if (await queryCommitOutcome(pool, askForMs, token)) return committing
    throw error
  }
}

/** Runs work on a session, one exchange per list of statements; `onWrite` runs before a list that writes is sent. */
async function drive<T>({ runAll }: Session, work: Tx<T>, onWrite = () => {}): Promise<T> {
  let step = work.next()
  while (step.done !== true) {
    const statements = step.value.map((statement) => ({
      values: statement.values,
      ...compileStatement(statement, 'postgres'),
    }))
    if (statements.some(({ isWrite }) => isWrite)) onWrite()
    const sent = await runAll(
      statements.flatMap(({ sql, bind, values }) => (sql === '' ? [] : [{ text: sql, values: bind(values) }])),
    )
    const results = sent.values()
    step = work.next(statements.map(({ sql }) => (sql === '' ? NO_RESULT : (results.next().value ?? NO_RESULT))))
  }
  return step.value
}

const NO_RESULT: Result = { rows: [], count: 0 }

/** Queries the outcome of a commit, and makes sure that it is final. Throws `CommitUnknown` if there is no response. */
async function queryCommitOutcome({ borrow, isOpen }: Pool, askForMs: number, token: string): Promise<boolean> {
  const began = performance.now()
  for (;;) {
    try {
      const [row] = await borrow((session) => session.queryRows<{ kept: number }>(ASK, [token]))
      return row?.kept === 1
    } catch {
      if (!isOpen() || performance.now() - began > askForMs)
        throw new CommitUnknown('the result of a commit is not known yet')
      await Bun.sleep(ASK_EVERY_MS)
    }
  }
}

// Waits for a transaction that has written the token but not ended; a transaction that writes the token later fails.
const ASK = `
  INSERT INTO commits (token, kept, tables) VALUES ($1::uuid, 0, ${TABLES_VERSION})
  ON CONFLICT (token) DO UPDATE SET token = excluded.token RETURNING kept`

/**
 * Ends a transaction, and returns the new position of the database. On an older copy, and after the wall has moved
 * away, the token is invalid, so nothing is stored. A move waits for the locks of transactions that have written, so a
 * transaction that commits after the move sees the move's note here. A commit that waits for a standby must not have a
 * timeout, because the timeout would acknowledge the commit without the standby.
 */
async function commitWithToken(
  token: string,
  { change, payment }: Progress,
  { runAll, run }: Session,
): Promise<Progress> {
  const [left, committed] = await Promise.allSettled([
    runAll([{ text: LEAVE, values: [token, change, payment] }]),
    run('SET LOCAL statement_timeout = 0; COMMIT'),
  ])
  // After an error, a COMMIT only rolls back.
  if (left.status === 'rejected') throw left.reason
  if (committed.status === 'rejected') throw committed.reason
  return left.value[0]?.rows[0] as Progress
}

const LEAVE = `
  WITH progress AS (${PROGRESS}), written AS (
    INSERT INTO commits (token, kept, tables)
    SELECT $1::uuid, CASE WHEN EXISTS (${NOTE}) THEN 2 WHEN change >= $2::bigint AND payment >= $3::bigint THEN 1 END,
      ${TABLES_VERSION} FROM progress)
  SELECT * FROM progress`

/**
 * Why the table of tokens rejected a commit's token, which means that nothing was stored; `undefined` for any other
 * error.
 */
function describeCommitRefusal(error: unknown): string | undefined {
  const code = getErrorCode(error)
  if (code === NOT_NULL_VIOLATION) return 'the database is older than the state this wall has seen'
  if (code !== CHECK_VIOLATION) return undefined
  return getConstraint(error) === 'commits_kept_check' ? MOVED : 'a newer version of the wall has upgraded the database'
}
const NOT_NULL_VIOLATION = '23502'
const CHECK_VIOLATION = '23514'

// Tokens are queried only within a few seconds of their commit, so old ones can be deleted.
const FORGET_OLD = `
  DELETE FROM commits WHERE at < now() - interval '15 minutes';
  DELETE FROM leases WHERE until < now() - interval '15 minutes'`
