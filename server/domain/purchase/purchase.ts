/** Purchases: what the ledger stores of one, what its script may request, and how it ends. */

import type { Pixels } from '../../../shared/pixels.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import type { Failure } from '../failure.ts'
import type { SettleResult, SignatureCheck, VerifyResult } from './facilitator-errors.ts'
import type { AreaPicture, Draft, Listing } from './listing.ts'
import type { Address, Hash, Payment, PaymentKey, Space, Terms, UnixMs } from './payment.ts'
import type { Target } from './target.ts'

/** What the ledger remembers of a payment. */
export type Purchase = {
  readonly payment: Payment
  readonly target: Target // what was asked for
  readonly block: BlockIndex // what is held, sold, or was held last
  readonly listing: Listing
  readonly head: bigint // chain height before the payment was verified: what spends it later was meant for this purchase
  readonly state: Reserved | Sold | Released | Credited
}

/** The block is held for the payer, who has not been answered; `uncertain` once the payer was told to wait. */
export type Reserved = {
  readonly kind: 'reserved'
  readonly uncertain: boolean
  readonly attempt: number // how often a block was held for this payment, from 1: what one attempt decides is not done to the next
}

/** The block is the payer's. */
export type Sold = {
  readonly kind: 'sold'
  readonly tx: Hash
  readonly claimedAt: UnixMs
  readonly name: string | null // the wallet's identity at the sale
  readonly framework: string | null
  readonly settled: boolean // our own look at the chain has seen the transfer
  readonly unanswered: boolean // the receipt is not known to have gone out to the payer
  readonly handedTo?: Hash // the nonce of the later payment whose answer the receipt was
}

/** The block was given back; `isFinal` once the chain shows that the payment can never land. */
export type Released = { readonly kind: 'released'; readonly isFinal: boolean }

/** The payment landed when no block was left for it: the operator owes the payer. */
export type Credited = { readonly kind: 'credited'; readonly tx: Hash }

export type SoldPurchase = Purchase & { readonly state: Sold }

/** A payment for which nothing was ever held. */
export type UnclaimedPayment = Pick<Purchase, 'payment' | 'target' | 'listing' | 'head'>

/** What a buyer asks, read and checked as far as can be done without state. */
export type Order = {
  readonly target: Target
  readonly payment: Payment
  readonly listing: Draft | Failure // a listing that is refused must not hide what became of a known payment
  readonly terms: Terms // for the whole target
  readonly now: UnixMs
  readonly armed: boolean // whether payments not seen before can be taken
  readonly contact: string | null // where a payer who is owed money turns to
  readonly payees: ReadonlySet<Address> // every address that this wall has ever asked to be paid at
}

/** What one look at the ledger tells of a target, for one payer. */
export type Availability = {
  readonly space: Space
  readonly prior: Purchase | undefined // unanswered, of the same payer for the same target, and no run is at it for a client
}

/** What the chain says of an authorization, looked up by payer and nonce. Only what is `final` no reorganisation undoes. */
export type ChainStatus =
  | { readonly kind: 'paid'; readonly tx: Hash; readonly final?: true }
  | { readonly kind: 'unspent' } // may still be spent
  | { readonly kind: 'void'; readonly why: string; readonly final?: true } // does not pay us; once final, never will
  | { readonly kind: 'silent' } // the endpoint did not answer

/** `claimed` holds the block in the same transaction that remembers the payment. */
export type ClaimResult =
  | { readonly kind: 'claimed'; readonly purchase: Purchase }
  | { readonly kind: 'lost'; readonly space: Exclude<Space, 'open'> }
  | { readonly kind: 'prior' } // an earlier purchase of this payer and target is unanswered by now
  | { readonly kind: 'abandoned' } // every client left before: nobody is charged for an answer that nobody waits for

/** Everything a script can ask for, with what it gets. A request of the ledger may instead throw `StoreUnavailable`. */
export type Requests = {
  'look-up': { ask: { key: PaymentKey }; answer: Purchase | undefined }
  'check-availability': { ask: { target: Target; payment: Payment; now: UnixMs }; answer: Availability }
  'read-chain': { ask: { key: PaymentKey; isRefused: boolean }; answer: { head: bigint; spent: boolean } | 'silent' }
  verify: { ask: { target: Target; payment: Payment }; answer: VerifyResult }
  paint: { ask: { payment: Payment; picture: AreaPicture }; answer: Pixels | Failure }
  'check-signature': { ask: { payment: Payment }; answer: SignatureCheck } // of the payer
  'check-for-token': { ask: { payment: Payment }; answer: SignatureCheck } // as the token itself will check it
  claim: { ask: { target: Target; payment: Payment; listing: Listing; head: bigint }; answer: ClaimResult }
  settle: { ask: { purchase: Purchase }; answer: SettleResult }
  'ask-chain': { ask: { payment: Payment; head: bigint; wait: ChainWait; named?: Hash }; answer: ChainStatus }
  'mark-uncertain': { ask: { purchase: Purchase }; answer: Purchase }
  finalize: { ask: { purchase: Purchase; tx: Hash; settled: boolean }; answer: SoldPurchase }
  confirm: { ask: { purchase: Purchase; tx: Hash }; answer: void }
  'mark-final': { ask: { purchase: Purchase; tx: Hash }; answer: void }
  'mark-missing': { ask: { purchase: Purchase }; answer: void }
  'write-off': { ask: { purchase: Purchase }; answer: void }
  release: { ask: { purchase: Purchase; isFinal: boolean }; answer: void }
  'record-unclaimed': { ask: { purchase: UnclaimedPayment }; answer: Purchase }
  'fulfil-late-payment': { ask: { purchase: Purchase; tx: Hash }; answer: Purchase }
  'hand-over': { ask: { purchase: SoldPurchase }; answer: boolean } // whether this run may answer with that receipt
  'resolve-other': { ask: { key: PaymentKey }; answer: Purchase | undefined }
}

/**
 * How long the chain is asked: once; until a settlement just made had time to show; or until it has an answer from a block
 * made after the question, because a facilitator that refuses may have broadcast before. Without one it is silent.
 */
export type ChainWait = 'none' | 'settling' | 'next-block'

export type Verb = keyof Requests
export type Request = { [V in Verb]: { readonly do: V } & Readonly<Requests[V]['ask']> }[Verb]
export type AnswerTo<V extends Verb> = Requests[V]['answer']
export type Answer = AnswerTo<Verb>
export type Script<T> = Generator<Request, T, Answer>

/** A receipt to give; `isEarlier` where it is of what the payer bought before, and was not known to have heard of. */
export type Bought = { readonly kind: 'bought'; readonly purchase: SoldPurchase; readonly isEarlier?: true }

/** How a request to buy ends. */
export type Outcome = Bought | { readonly kind: 'refused'; readonly failure: Failure }

export const refused = (failure: Failure): Outcome => ({ kind: 'refused', failure })

export function isSold(purchase: Purchase): purchase is SoldPurchase {
  return purchase.state.kind === 'sold'
}
