/** The location of a store, and its progress, which distinguishes an older copy from the store itself. */

import type { Address } from './purchase/payment.ts'

/**
 * The database: a SQLite file of one process, or a PostgreSQL server that several share. The server's address is a
 * secret.
 */
export type Database =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }

/**
 * The progress of a store, which never decreases. Every sale and every visible change has a number in the log, and
 * every claim has a numbered payment.
 */
export type Progress = {
  readonly change: number // the log's last number
  readonly payment: number // the last payment's number
}

/**
 * A store's progress, the height up to which the chain was searched, and the addresses at which the wall has asked to
 * be paid.
 */
export type StorePosition = Progress & {
  readonly height: bigint // the chain height up to which all money is accounted for; 0 on a wall that never searched
  readonly payees: readonly Address[] // every address at which the wall has asked to be paid, in order
}

/** Whether a store lacks changes or payments that were seen before. */
export const isBehind = (store: Progress, seen: Progress): boolean =>
  store.change < seen.change || store.payment < seen.payment

/**
 * Whether a store is an older copy of one that had reached `seen`. Heights never decrease, so a lower height means an
 * older copy, even if it has more changes and payments than a copy that was accepted meanwhile. A store whose height is
 * above that of `seen` is not older: the operator has accepted it.
 */
export const isOlder = (store: StorePosition, seen: StorePosition): boolean =>
  store.height < seen.height || (store.height === seen.height && isBehind(store, seen))

/** Whether two positions are the same. */
export const isSamePosition = (one: StorePosition, other: StorePosition): boolean =>
  one.change === other.change &&
  one.payment === other.payment &&
  one.height === other.height &&
  one.payees.length === other.payees.length
