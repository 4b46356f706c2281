/** Begins a transaction by locking the objects it concerns. */

import type { BlockIndex } from '../../shared/wall.ts'
import type { Lockable } from '../tx.ts'
import type { Session } from './pool.ts'

/** The keys of the locks that a transaction has. */
export type Locked = ReadonlySet<unknown>

/** Begins a transaction. */
export type Begin = (session: Session) => Promise<Locked>

/** Waits for all locks except those on blocks, for which the statements of the transaction wait later. */
export const beginWithAllLocks =
  (about: readonly Lockable[]): Begin =>
  async ({ run }) => {
    await run(['BEGIN', ...listLockNumbers(about).map((lock) => `SELECT pg_advisory_xact_lock(${lock})`)].join('; '))
    return new Set(about.map(toLockKey))
  }

/** Takes the locks that no other transaction holds, without waiting for the rest. */
export const beginWithFreeLocks =
  (about: readonly Lockable[]): Begin =>
  async ({ run, runAll }) => {
    const values = [`{${listLockNumbers(about).join()}}`, `{${about.filter(isBlock).join()}}`]
    const [, [taken]] = await Promise.all([run('BEGIN'), runAll([{ text: TAKE, values }])])
    return new Set(taken?.rows.map((row) => (row as { key: string }).key))
  }

const TAKE = `
  SELECT lock::text AS key FROM unnest($1::bigint[]) AS lock WHERE pg_try_advisory_xact_lock(lock)
  UNION ALL
  SELECT key FROM (SELECT 'block ' || i AS key FROM blocks WHERE i = ANY ($2::integer[]) FOR UPDATE SKIP LOCKED) AS free`

/** The key of a lock. */
export const toLockKey = (one: Lockable): string => (isBlock(one) ? `block ${one}` : computeLockNumber(one))

const isBlock = (one: Lockable): one is BlockIndex => typeof one === 'number'

const listLockNumbers = (about: readonly Lockable[]): string[] =>
  about.flatMap((one) => (isBlock(one) ? [] : [computeLockNumber(one)]))

/**
 * The number of an advisory lock. If two names share a number by chance, their transactions only wait for each other.
 */
const computeLockNumber = (name: string): string => String(BigInt.asIntN(64, Bun.hash.xxHash64(name)))
