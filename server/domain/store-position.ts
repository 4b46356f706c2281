/** Where a store is and how far it has come. The second distinguishes an older copy from the store itself. */

import type { Address } from './purchase/payment.ts'

/** The database: a SQLite file of one process, or a PostgreSQL server that several share. Its address is a secret. */
export type Database =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** Never goes back. Every sale and every change of what is shown is a change of the log; every claim is a payment. */
export type Progress = {
  readonly change: number // the log's last number
  readonly payment: number // the last payment's number
}

/** The same, with how far the chain was looked at, and for whom. */
export type StorePosition = Progress & {
  readonly height: bigint // of the chain, up to which all that arrived is accounted for; 0 on a wall that never looked
  readonly payees: readonly Address[] // every address that the wall asked to be paid at, in the order in which it did
}

/** Whether a store lacks changes or payments that were seen before. */
export const isBehind = (store: Progress, seen: Progress): boolean =>
  store.change < seen.change || store.payment < seen.payment

/**
 * Whether a store is an older copy of one that had come to `seen`. Heights never go back, so one of a lower height is: also one
 * with more changes and payments than a copy that was accepted meanwhile. One that has accounted for the chain beyond that
 * height is not: then the operator has accepted it.
 */
export const isOlder = (store: StorePosition, seen: StorePosition): boolean =>
  store.height < seen.height || (store.height === seen.height && isBehind(store, seen))

/** Whether two positions are the same. */
export const isSamePosition = (one: StorePosition, other: StorePosition): boolean =>
  one.change === other.change &&
  one.payment === other.payment &&
  one.height === other.height &&
  one.payees.length === other.payees.length
