/** Purchases: what the ledger stores, the requests that the script can make, and the outcomes. */

import type { Pixels } from '../../../shared/pixels.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import type { Failure } from '../failure.ts'
import type { SettleResult, SignatureCheck, VerifyResult } from './facilitator-errors.ts'
import type { AreaPicture, Draft, Listing } from './listing.ts'
import {
  type Address,
  type Availability,
  hasSameFields,
  type Hash,
  movesSameMoney,
  type Payment,
  type PaymentKey,
  type Terms,
  type UnixMs,
} from './payment.ts'
import type { Target } from './target.ts'

/** A purchase as the ledger stores it. */
export type Purchase = {
  readonly payment: Payment
  readonly target: Target // as requested
  readonly block: BlockIndex // held or sold now, or held last
  readonly listing: Listing
  readonly head: bigint // chain height before verification: a transfer above this height was meant for this purchase
  readonly state: Reserved | Sold | Released | Credited
}

/** The block is held until the outcome of the payment is known; `uncertain` once the payer has been asked to wait. */
export type Reserved = {
  readonly kind: 'reserved'
  readonly uncertain: boolean
  /**
   * Counts, from 1, how often a block was held for this payment. A decision about one attempt never applies to a later
   * one.
   */
  readonly attempt: number
}

/** The payer owns the block. */
export type Sold = {
  readonly kind: 'sold'
  readonly tx: Hash
  readonly claimedAt: UnixMs
  readonly name: string | null // the wallet's name at the time of the sale
  readonly framework: string | null
  readonly settled: boolean // this service has seen the transfer on the chain
  readonly unanswered: boolean // the receipt may not have reached the payer
  readonly receiptReusedFor?: Hash // nonce of the later payment that was answered with this receipt, if there was one
}

/** The block is no longer held; `isFinal` once the chain shows that the payment can never settle. */
export type Released = { readonly kind: 'released'; readonly isFinal: boolean }

/** Whether a purchase has ended: it is sold or credited, or it is released and its payment can never settle. */
export const isEnded = ({ state }: Purchase): boolean =>
  state.kind === 'released' ? state.isFinal : state.kind !== 'reserved'

/**
 * The payment settled when no block was left for it, so the operator owes the payer the money until `isPaidBack` is
 * set.
 */
export type Credited = { readonly kind: 'credited'; readonly tx: Hash; readonly isPaidBack?: true }

export type SoldPurchase = Purchase & { readonly state: Sold }

/** A payment for which no block was ever held. */
export type UnclaimedPayment = Pick<Purchase, 'payment' | 'target' | 'listing' | 'head'>

/** A request to buy, parsed and checked as far as possible without state. */
export type BuyOrder = {
  readonly target: Target
  readonly payment: Payment
  readonly listing: Draft | Failure // an invalid listing must not hide the result of a known payment
  readonly terms: Terms // for the whole target
  readonly now: UnixMs
  readonly armed: boolean // whether new payments are accepted
  readonly isDenied: boolean // whether the operator refuses to sell to this payer
  readonly contact: string | null // the contact for a payer who is owed money
  readonly payees: ReadonlySet<Address> // every address that this wall has ever offered as payee
}

/** The state of a target in the ledger, for one payer. */
export type AvailabilityCheck = {
  readonly space: Availability
  /** The payer's earlier purchase to resolve first; see `findPurchaseToResolveFirst`. */
  readonly prior: Purchase | undefined
}

/**
 * The state of an authorization on the chain, by payer and nonce. A reorganisation can undo it unless it is `final`.
 */
export type ChainStatus =
  | { readonly kind: 'paid'; readonly tx: Hash; readonly final?: true }
  | { readonly kind: 'unspent' } // may still be spent
  | { readonly kind: 'void'; readonly why: string; readonly final?: true } // does not pay this wall; if final, it never will
  | { readonly kind: 'silent' } // the endpoint did not respond

/** The result of a claim, which stores the payment and holds the block in one database transaction. */
export type ClaimResult =
  | { readonly kind: 'claimed'; readonly purchase: Purchase }
  | { readonly kind: 'lost'; readonly space: Exclude<Availability, 'open'> }
  | { readonly kind: 'prior' } // the payer now has an earlier purchase to resolve first
  | { readonly kind: 'abandoned' } // all clients disconnected, so the payment is not used

/** All requests of the script, with their answers. Requests to the ledger may throw `StoreUnavailable` instead. */
export type Requests = {
  'look-up': { ask: { key: PaymentKey }; answer: Purchase | undefined }
  'check-availability': { ask: { target: Target; payment: Payment; now: UnixMs }; answer: AvailabilityCheck }
  'read-chain': { ask: { key: PaymentKey; isRefused: boolean }; answer: { head: bigint; spent: boolean } | 'silent' }
  verify: { ask: { target: Target; payment: Payment }; answer: VerifyResult }
  paint: { ask: { payment: Payment; picture: AreaPicture }; answer: Pixels | Failure }
  'check-signature': { ask: { payment: Payment }; answer: SignatureCheck } // checks that the payer signed the payment
  'check-for-token': { ask: { payment: Payment }; answer: SignatureCheck } // checks the signature in the same way as the token contract
  claim: { ask: { target: Target; payment: Payment; listing: Listing; head: bigint }; answer: ClaimResult }
  settle: { ask: { purchase: Purchase }; answer: SettleResult }
  'ask-chain': {
    ask: { payment: Payment; head: bigint; wait: ChainWait; named?: Hash | undefined }
    answer: ChainStatus
  }
  'mark-uncertain': { ask: { purchase: Purchase }; answer: Purchase }
  finalize: { ask: { purchase: Purchase; tx: Hash; settled: boolean }; answer: SoldPurchase }
  confirm: { ask: { purchase: Purchase; tx: Hash }; answer: void }
  'mark-final': { ask: { purchase: Purchase; tx: Hash }; answer: void }
  'mark-missing': { ask: { purchase: Purchase }; answer: void }
  'write-off': { ask: { purchase: Purchase }; answer: void }
  release: { ask: { purchase: Purchase; isFinal: boolean }; answer: void }
  'record-unclaimed': { ask: { purchase: UnclaimedPayment }; answer: Purchase }
  'fulfil-late-payment': { ask: { purchase: Purchase; tx: Hash }; answer: Purchase }
  // Asks whether this run may reveal the earlier purchase. If `isReceipt` is true, the reuse of the receipt is
  // recorded, and the run's own payment is never used.
  'hand-over': { ask: { purchase: SoldPurchase; isReceipt: boolean }; answer: boolean }
  'resolve-other': { ask: { key: PaymentKey }; answer: Purchase | undefined }
}

/**
 * How long to query the chain.
 *
 * - `none`: once.
 * - `settling`: until a settlement that was just made has had time to appear.
 * - `next-block`: until the state is known as of a block made after the query began, because a facilitator may
 *   broadcast a payment and then refuse it. Without such a block, the answer is `silent`.
 */
export type ChainWait = 'none' | 'settling' | 'next-block'

export type Verb = keyof Requests
export type ScriptRequest = { [V in Verb]: { readonly do: V } & Readonly<Requests[V]['ask']> }[Verb]
export type AnswerTo<V extends Verb> = Requests[V]['answer']
export type ScriptAnswer = AnswerTo<Verb>
export type Script<T> = Generator<ScriptRequest, T, ScriptAnswer>

/** A receipt to return; `isEarlier` if it is for an earlier purchase whose receipt may not have reached the payer. */
export type Bought = { readonly kind: 'bought'; readonly purchase: SoldPurchase; readonly isEarlier?: true }

/** The outcome of a request to buy. */
export type Outcome = Bought | Failure

export function isSold(purchase: Purchase): purchase is SoldPurchase {
  return purchase.state.kind === 'sold'
}

/**
 * Whether a payment is the known payment of a purchase. After a release, this includes a payment that moves the same
 * money in another validity period.
 */
export const isPaymentOf = ({ payment, state }: Purchase, presented: Payment): boolean =>
  state.kind === 'released' ? movesSameMoney(payment, presented) : hasSameFields(payment, presented)

/**
 * A purchase as it applies to an authorization with the same nonce. A final release of the stored authorization proves
 * nothing about an authorization that moves other money or is valid for longer. In that case, the release is returned
 * as not final.
 */
export function hideUnprovenRelease(presented: Payment, purchase: Purchase): Purchase {
  const { payment, state } = purchase
  const isProven = movesSameMoney(payment, presented) && presented.validBefore <= payment.validBefore
  return state.kind !== 'released' || isProven ? purchase : { ...purchase, state: { kind: 'released', isFinal: false } }
}
