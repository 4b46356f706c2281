/** How far a store has come, which tells an older copy of it from the store itself. */

/** Never goes back. Every sale and every change of what is shown is a change of the log; every claim is a payment. */
export type Progress = {
  readonly change: number // the log's last number
  readonly payment: number // the last payment's number
}

/** The same, with how far the chain was looked at. */
export type StorePosition = Progress & {
  readonly height: bigint // of the chain, up to which all that arrived is accounted for; 0 on a wall that never looked
}

/** Whether a store lacks something of what was seen of it. */
export const isBehind = (store: Progress, seen: Progress): boolean =>
  store.change < seen.change || store.payment < seen.payment

/**
 * Whether a store misses what one that had come to `seen` held. One that accounted for the chain beyond that since is not
 * older any more: the operator accepted it, and it goes on from there.
 */
export const isOlder = (store: StorePosition, seen: StorePosition): boolean =>
  store.height <= seen.height && isBehind(store, seen)

/** Whether two positions are the same. */
export const isSamePosition = (one: StorePosition, other: StorePosition): boolean =>
  one.change === other.change && one.payment === other.payment && one.height === other.height
