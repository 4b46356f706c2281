/**
 * The errors of a database server, in our own words: a message never contains SQL, values or addresses, only the codes
 * of PostgreSQL (SQLSTATE) and of Bun.
 */

import { SQL } from 'bun'
import { StoreUnavailable } from '../../server/domain/failure.ts'

/** The response to a commit was lost, and the database does not respond to queries about its outcome. */
export class CommitUnknown extends StoreUnavailable {}

/** The code of a database error: SQLSTATE if the server gave one, else Bun's. `undefined` for every other error. */
export function getErrorCode(error: unknown): string | undefined {
  if (!(error instanceof SQL.SQLError)) return undefined
  return error instanceof SQL.PostgresError ? (error.errno ?? error.code) : 'unknown'
}

/** The constraint that rejected a row. */
export const getConstraint = (error: unknown): string | undefined =>
  error instanceof SQL.PostgresError ? error.constraint : undefined

// A serialisation failure or a deadlock: the server has rolled the transaction back.
const beaten = /^(40001|40P01)$/

// No connection, a server that is starting or stopping, or one that has become a standby.
const lost = /^(08...|57P0.|25006|25P0[34]|ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME|AUTHENTICATION_TIMEOUT).*)$/

// A prepared statement is outdated because the tables changed, for example because another process migrated them.
const outdated = /^(0A000|26000)$/

// Failures because of resources, time limits, the disk, or damage.
const trouble = /^(53...|55P03|57014|58...|XX...|F0...|ERR_POSTGRES_.*)$/

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^28/, 'the server rejects the user name or password'],
  [/^3D000$/, 'the database does not exist'],
  [/^42501$/, 'the user lacks permission'],
  [/^25006$/, 'the server does not accept writes: it is read-only, or a standby'],
  [/^53100$/, 'the server’s disk is full'],
  [/^53300$/, 'the server accepts no more connections'],
  [/^57P0/, 'the server is starting up or shutting down'],
  [/^(55P03|57014)$/, 'it timed out'],
  [/^08P01$/, 'a connection pooler rejects the session settings; connect to the server directly'],
  [/^(08|ERR_POSTGRES_CONNECTION)/, 'the server cannot be reached'],
  [/^(58|XX)/, 'the server failed'],
]

/** The meaning of a database error code, in our own words. */
export function describeSqlState(code: string): string {
  const words = WORDS.find(([pattern]) => pattern.test(code))?.[1]
  return words === undefined ? code : `${words} (${code})`
}

/** Whether the same work is likely to succeed immediately on another connection. */
export function isTransient(error: unknown): boolean {
  const code = getErrorCode(error)
  return code !== undefined && (beaten.test(code) || lost.test(code))
}

/**
 * Whether the error shows that a connection has an outdated view of the tables, which a new connection will not have.
 */
export function isOutdated(error: unknown): boolean {
  const code = getErrorCode(error)
  return code !== undefined && outdated.test(code)
}

/** Whether the connection that had this error must not be used any more. */
export function isConnectionLost(error: unknown): boolean {
  const code = getErrorCode(error)
  return code !== undefined && (lost.test(code) || outdated.test(code) || code.startsWith('ERR_POSTGRES_'))
}

/** Whether an error in response to a COMMIT proves that nothing was stored. */
export function isRefusedCommit(error: unknown): boolean {
  const code = getErrorCode(error)
  return code !== undefined && (beaten.test(code) || /^2[35]...$/.test(code))
}

/**
 * The exception for an error after which nothing was stored: failures become `StoreUnavailable`; any other error is a
 * bug.
 */
export function toStoreError(error: unknown): unknown {
  const code = getErrorCode(error)
  if (code === undefined) return error
  if (isTransient(error) || trouble.test(code))
    return new StoreUnavailable(`the database failed: ${describeSqlState(code)}`)
  return new Error(`the database rejected a statement: ${describeSqlState(code)}`)
}
