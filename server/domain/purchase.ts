/**
 * One purchase, start to finish, as a pure script: a generator that yields one request at a time and resumes with
 * its answer. A retry, a restart and the sweeper run the same steps again from what the ledger remembers.
 *
 * The law of the script: money that may have moved is never answered with a demand for more, and a block is given
 * back only on a verdict (the chain's, or a refusal that provably came before broadcast), never because time passed.
 */

import type { BlockIndex } from '../../shared/wall.ts'
import { StoreUnavailable, type Failure } from './failure.ts'
import type { Listing } from './listing.ts'
import {
  unfitness,
  type Hash,
  type Payment,
  type PaymentKey,
  type Space,
  type Target,
  type Terms,
  type UnixMs,
} from './payment.ts'
import {
  isSignatureReason,
  refusalOfUnsent,
  signatureRefusal,
  type Settling,
  type SignatureCheck,
  type Verification,
} from './reasons.ts'
import {
  earlierElsewhere,
  earlierUnknown,
  facilitatorUnavailable,
  notPersisted,
  paymentCredited,
  paymentRequired,
  paymentsBusy,
  paymentUsed,
  settlementUnknown,
  unavailability,
} from './refusals.ts'

/** What the ledger remembers of a payment. */
export type Purchase = {
  readonly payment: Payment
  readonly target: Target // what was asked for
  readonly block: BlockIndex // what is held, sold, or was held last
  readonly listing: Listing
  readonly head: bigint // chain height before the payment was verified: what spends it later was meant for this purchase
  readonly state: Reserved | Sold | Released | Credited
}

/** The block is held for the payer; `doubted` once an attempt to settle had no clear end. */
export type Reserved = { readonly kind: 'reserved'; readonly doubted: boolean }

/** The block is the payer's. */
export type Sold = {
  readonly kind: 'sold'
  readonly tx: Hash
  readonly claimedAt: UnixMs
  readonly name: string | null // the wallet's identity at the sale
  readonly framework: string | null
  readonly settled: boolean // our own look at the chain has seen the transfer
  readonly receiptOwed: boolean // the payer was last told to wait, and has not seen the receipt since
}

/** The block was given back; `dead` once the chain shows that the payment can never land. */
export type Released = { readonly kind: 'released'; readonly dead: boolean }

/** The payment landed when no block was left for it: the operator owes the payer. */
export type Credited = { readonly kind: 'credited'; readonly tx: Hash }

export type SoldPurchase = Purchase & { readonly state: Sold }

/** A payment that moved the money while no block was held for it. */
export type Landed = Pick<Purchase, 'payment' | 'target' | 'listing' | 'head'>

/** What a buyer asks, read and checked as far as can be done without state. */
export type Order = {
  readonly target: Target
  readonly payment: Payment
  readonly listing: Listing | Failure // a listing that is refused must not hide what became of a known payment
  readonly terms: Terms
  readonly now: UnixMs
  readonly armed: boolean // whether payments not seen before can be taken
  readonly contact: string | null // where a payer who is owed money turns to
}

/** What one look at the ledger tells of a target, for one payer. */
export type Survey = {
  readonly space: Space
  readonly sibling: Purchase | undefined // of the same payer for the same target: in doubt, or sold with its receipt still owed
}

/** What the chain says of an authorization, looked up by payer and nonce. Only what is `final` no reorganisation undoes. */
export type Verdict =
  | { readonly kind: 'paid'; readonly tx: Hash; readonly final?: true }
  | { readonly kind: 'unspent' } // may still be spent
  | { readonly kind: 'void'; readonly why: string; readonly final?: true } // does not pay us; once final, never will
  | { readonly kind: 'silent' } // the endpoint did not answer

/** `claimed` holds the block in the same transaction that remembers the payment. */
export type Claiming =
  | { readonly kind: 'claimed'; readonly purchase: Purchase }
  | { readonly kind: 'lost'; readonly space: Exclude<Space, 'open'> }
  | { readonly kind: 'in-doubt' } // an older one of this payer and target is in doubt by now, or its receipt owed

/** Everything a script can ask for, with what it gets. A request of the ledger may instead throw `StoreUnavailable`. */
export type Requests = {
  'look-up': { ask: { key: PaymentKey }; answer: Purchase | undefined }
  survey: { ask: { target: Target; payment: Payment; now: UnixMs }; answer: Survey }
  'read-chain': { ask: { key: PaymentKey }; answer: { head: bigint; spent: boolean } | 'silent' }
  verify: { ask: { target: Target; payment: Payment }; answer: Verification }
  'check-signature': { ask: { payment: Payment }; answer: SignatureCheck } // of the payer
  'check-for-token': { ask: { payment: Payment }; answer: SignatureCheck } // as the token itself will check it
  claim: { ask: { target: Target; payment: Payment; listing: Listing; head: bigint }; answer: Claiming }
  settle: { ask: { purchase: Purchase }; answer: Settling }
  'ask-chain': { ask: { payment: Payment; head: bigint; patience: 'none' | 'settling' }; answer: Verdict }
  doubt: { ask: { purchase: Purchase }; answer: Purchase }
  finalize: { ask: { purchase: Purchase; tx: Hash; settled: boolean }; answer: SoldPurchase }
  confirm: { ask: { purchase: Purchase; tx: Hash }; answer: void }
  seal: { ask: { purchase: Purchase; tx: Hash }; answer: void }
  miss: { ask: { purchase: Purchase }; answer: void }
  'write-off': { ask: { purchase: Purchase }; answer: void }
  release: { ask: { purchase: Purchase; dead: boolean }; answer: void }
  owe: { ask: { purchase: Landed; tx: Hash }; answer: Purchase }
  deliver: { ask: { purchase: SoldPurchase }; answer: boolean } // whether the receipt was owed until now
  'resolve-other': { ask: { key: PaymentKey }; answer: Purchase | undefined }
}

export type Verb = keyof Requests
export type Request = { [V in Verb]: { readonly do: V } & Readonly<Requests[V]['ask']> }[Verb]
export type AnswerTo<V extends Verb> = Requests[V]['answer']
export type Answer = AnswerTo<Verb>
export type Script<T> = Generator<Request, T, Answer>

/** How a request to buy ends. */
export type Outcome =
  | { readonly kind: 'bought'; readonly purchase: SoldPurchase }
  | { readonly kind: 'refused'; readonly failure: Failure }

/** Buys a block, or says what became of this payment when it is known already. */
export function* buy(order: Order): Script<Outcome> {
  const known = yield* ask({ do: 'look-up', key: order.payment })
  if (known === undefined) return yield* buyFresh(order)
  if (!answersOn(known, order.target)) return refused(paymentUsed(known.block))
  if (isSold(known)) return yield* deliver(known)
  if (known.state.kind === 'reserved') return yield* answerFrom(yield* resume(known), order)
  if (known.state.kind === 'released') return yield* tryAgain(known, order)
  return refused(paymentCredited(known.payment.amount, known.state.tx, order.contact))
}

/**
 * Brings a purchase that no request is waiting for nearer to its end: settles or releases what is held, gives late
 * payments their block, and looks whether what paid for a sale is on the chain. Answers the purchase as it is then.
 */
export function* reconcile(key: PaymentKey): Script<Purchase | undefined> {
  const purchase = yield* ask({ do: 'look-up', key })
  switch (purchase?.state.kind) {
    case 'reserved':
      return (yield* resume(purchase)).purchase
    case 'released':
      return purchase.state.dead ? purchase : (yield* watch(purchase)).purchase
    case 'sold':
      yield* lookBack(purchase, purchase.state.settled)
      return purchase
    case 'credited':
    case undefined:
      return purchase
  }
}

/** A payment seen for the first time, or `released` and sent again (`order.listing` is then the first one). */
function* buyFresh(order: Order, released?: Purchase): Script<Outcome> {
  const { target, payment, listing, terms, now } = order
  if (!order.armed) return refused(facilitatorUnavailable('Payments are being checked at the moment'))
  const { space, sibling } = yield* ask({ do: 'survey', target, payment, now })
  if (sibling === undefined && space === 'claimed') return refused(unavailability(target, space))
  const unfit = unfitness(payment, terms, now)
  if (unfit !== undefined) {
    if (sibling !== undefined) return refused(earlierUnknown())
    return refused(space === 'open' ? paymentRequired(unfit) : unavailability(target, space))
  }
  if ('code' in listing) return refused(listing)
  if (sibling === undefined && space !== 'open') return refused(unavailability(target, space))

  // The height is read before the facilitator is asked: what spends the authorization after it was meant for us,
  // what spent it before is a replay, since settled payloads are public.
  const chain = yield* ask({ do: 'read-chain', key: payment })
  if (chain === 'silent') return refused(facilitatorUnavailable('The chain cannot be asked at the moment'))
  if (chain.spent) {
    if (released !== undefined) return yield* answerFrom(yield* watch(released), order)
    if (sibling !== undefined) return refused(earlierUnknown())
    return refused(paymentRequired('the authorization was used or cancelled before; sign a new one'))
  }

  const verification = yield* ask({ do: 'verify', target, payment })
  if (verification.kind === 'busy') return refused(paymentsBusy())
  if (verification.kind === 'unavailable') return refused(facilitatorUnavailable(UNREACHABLE))
  if (verification.kind === 'invalid') {
    const landed = { payment, target, listing, head: chain.head }
    return yield* refuseUnlessPaid(order, landed, verification.reason, sibling)
  }

  // Only now is the payer known to have signed, so that nobody else can ask after a payer's purchases.
  const settledOther = yield* settleOther(sibling, target)
  if (settledOther !== undefined) return settledOther

  const claiming = yield* ask({ do: 'claim', target, payment, listing, head: chain.head })
  if (claiming.kind !== 'claimed') return notClaimed(claiming, target)
  return yield* answerFrom(yield* settleFirst(claiming.purchase), order)
}

/** A payment that was given up earlier is sent again: it may have landed meanwhile, or be good for another try. */
function* tryAgain(purchase: Purchase, order: Order): Script<Outcome> {
  const watched = yield* watch(purchase)
  if (watched.verdict?.kind !== 'unspent') return yield* answerFrom(watched, order)
  return yield* buyFresh({ ...order, target: purchase.target, listing: purchase.listing }, purchase)
}

/** How far a purchase got, and what to tell a payer when it is not sold. */
type Progress = { readonly purchase: Purchase; readonly verdict?: Verdict; readonly refusal: Failure }

/** Settles a purchase just claimed. Only here can a refusal be final, because nothing was sent before. */
function* settleFirst(purchase: Purchase): Script<Progress> {
  const settling = yield* ask({ do: 'settle', purchase })
  const refusal = refusalOfUnsent(settling)
  if (refusal === undefined) return yield* conclude(purchase, yield* askChain(purchase, 'settling'), settling)
  const verdict = yield* askChain(purchase, 'none')
  if (verdict.kind !== 'unspent') return yield* conclude(purchase, verdict, settling)
  const released = yield* release(purchase, false)
  return { purchase: released, verdict, refusal }
}

/** Goes on with a held block, which an earlier try may have paid. Only a written doubt keeps that from releasing it yet. */
function* resume(purchase: Purchase): Script<Progress> {
  const doubted = yield* doubt(purchase)
  const verdict = yield* askChain(doubted, 'none')
  if (verdict.kind !== 'unspent' || !inDoubt(doubted)) return yield* conclude(doubted, verdict)
  const settling = yield* ask({ do: 'settle', purchase: doubted })
  return yield* conclude(doubted, yield* askChain(doubted, 'settling'), settling)
}

/** Draws the consequence of what the chain says; a facilitator's success counts only where it is silent. */
function* conclude(purchase: Purchase, verdict: Verdict, settling?: Settling): Script<Progress> {
  if (verdict.kind === 'paid') return yield* finalize(purchase, verdict.tx, true)
  if (verdict.kind === 'void') return yield* giveUp(purchase, verdict)
  if (verdict.kind === 'silent' && settling?.kind === 'success') return yield* finalize(purchase, settling.tx, false)
  return { purchase: yield* doubt(purchase), verdict, refusal: settlementUnknown(purchase.block) }
}

/** Looks whether a payment that was given up landed after all; if it did, its payer gets a block or is owed one. */
function* watch(purchase: Purchase): Script<Progress> {
  const verdict = yield* askChain(purchase, 'none')
  if (verdict.kind === 'paid') {
    const given = yield* ask({ do: 'owe', purchase, tx: verdict.tx })
    return { purchase: given, verdict, refusal: settlementUnknown(given.block) }
  }
  if (verdict.kind === 'void') return yield* giveUp(purchase, verdict)
  return { purchase, verdict, refusal: settlementUnknown(purchase.block) }
}

/** Renders progress for the payer who asks. */
function* answerFrom({ purchase, refusal }: Progress, order: Order): Script<Outcome> {
  const { payment, block, state } = purchase
  if (state.kind === 'credited') return refused(paymentCredited(payment.amount, state.tx, order.contact))
  if (!isSold(purchase)) return refused(refusal)
  return answersOn(purchase, order.target) ? yield* deliver(purchase) : refused(paymentUsed(block))
}

/** A facilitator's refusal stands unless the payment was spent on us since we looked, or the refusal is its own trouble. */
function* refuseUnlessPaid(
  order: Order,
  landed: Landed,
  reason: string,
  sibling: Purchase | undefined,
): Script<Outcome> {
  const { payment, head } = landed
  const verdict = yield* ask({ do: 'ask-chain', payment, head, patience: 'none' })
  if (verdict.kind === 'silent') return refused(facilitatorUnavailable('The chain cannot be asked at the moment'))
  if (verdict.kind === 'paid') {
    const given = yield* ask({ do: 'owe', purchase: landed, tx: verdict.tx })
    return yield* answerFrom({ purchase: given, refusal: settlementUnknown(given.block) }, order)
  }
  if (isSignatureReason(reason))
    return refused(signatureRefusal(yield* ask({ do: 'check-for-token', payment }), reason))
  if (sibling === undefined) return refused(paymentRequired(reason))
  // An older payment that went through may have emptied the wallet, which is then why this one is refused.
  if ((yield* ask({ do: 'check-signature', payment })) !== 'signed') return refused(earlierUnknown())
  return (yield* settleOther(sibling, order.target)) ?? refused(paymentRequired(reason))
}

/** Ends an older purchase of the same payer for the same target first; `undefined` when the new one may go on. */
function* settleOther(sibling: Purchase | undefined, asked: Target): Script<Outcome | undefined> {
  if (sibling === undefined) return undefined
  const other = isSold(sibling) ? sibling : yield* ask({ do: 'resolve-other', key: sibling.payment })
  if (other?.state.kind === 'reserved') return refused(earlierUnknown())
  if (other === undefined || !isSold(other)) return undefined
  // Another request took it just now, and another one may be owed: the payer's next request looks again.
  if (!(yield* ask({ do: 'deliver', purchase: other }))) return refused(earlierUnknown())
  // One that landed late may have got another block than the one asked for, which its payer must hear before paying more.
  return answersOn(other, asked) ? { kind: 'bought', purchase: other } : refused(earlierElsewhere(other.block))
}

/**
 * Looks at a sale again: a facilitator's word can be false, and a reorganisation can undo what was seen. The deed stays
 * with its payer; while the authorization is good, it is settled again.
 */
function* lookBack(purchase: Purchase, settled: boolean): Script<void> {
  const verdict = yield* askAndSettle(purchase)
  if (verdict.kind === 'silent') return
  if (verdict.kind === 'paid')
    return yield* ask({ do: verdict.final === true ? 'seal' : 'confirm', purchase, tx: verdict.tx })
  if (verdict.kind === 'void' && verdict.final === true) return yield* ask({ do: 'write-off', purchase })
  if (settled) yield* ask({ do: 'miss', purchase })
}

function* askAndSettle(purchase: Purchase): Script<Verdict> {
  const verdict = yield* askChain(purchase, 'none')
  if (verdict.kind !== 'unspent') return verdict
  yield* ask({ do: 'settle', purchase })
  return yield* askChain(purchase, 'settling')
}

function* finalize(purchase: Purchase, tx: Hash, settled: boolean): Script<Progress> {
  try {
    const sold = yield* ask({ do: 'finalize', purchase, tx, settled })
    return { purchase: sold, refusal: settlementUnknown(sold.block) }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    return { purchase: yield* doubt(purchase), refusal: notPersisted(purchase.block) }
  }
}

/** Gives a block back for a payment that ended elsewhere; unless that is final, it is watched on. */
function* giveUp(purchase: Purchase, verdict: Extract<Verdict, { kind: 'void' }>): Script<Progress> {
  const released = yield* release(purchase, verdict.final === true)
  return { purchase: released, verdict, refusal: paymentRequired(verdict.why) }
}

function* release(purchase: Purchase, dead: boolean): Script<Purchase> {
  yield* ask({ do: 'release', purchase, dead })
  return { ...purchase, state: { kind: 'released', dead } }
}

/** Remembers that the payer was left waiting. The block is held either way, so a store that fails here loses nothing. */
export function* doubt(purchase: Purchase): Script<Purchase> {
  if (purchase.state.kind !== 'reserved' || purchase.state.doubted) return purchase
  try {
    return yield* ask({ do: 'doubt', purchase })
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    return purchase
  }
}

function* deliver(purchase: SoldPurchase): Script<Outcome> {
  if (purchase.state.receiptOwed) yield* ask({ do: 'deliver', purchase })
  return { kind: 'bought', purchase }
}

function askChain(purchase: Purchase, patience: 'none' | 'settling'): Script<Verdict> {
  return ask({ do: 'ask-chain', payment: purchase.payment, head: purchase.head, patience })
}

/** One request of a script, and its answer. */
export function* ask<R extends Request>(request: R): Script<AnswerTo<R['do']>> {
  return (yield request) as AnswerTo<R['do']>
}

const inDoubt = ({ state }: Purchase) => state.kind === 'reserved' && state.doubted

/** Whether `purchase` is sold. */
export function isSold(purchase: Purchase): purchase is SoldPurchase {
  return purchase.state.kind === 'sold'
}

/** A payment answers where it was first sent and on the block it holds or bought, nowhere else. */
function answersOn({ target, block, state }: Purchase, asked: Target): boolean {
  if (asked === block) return asked === target || state.kind !== 'released'
  return asked === target && (target === 'next' || state.kind !== 'sold')
}

const UNREACHABLE = 'The payment facilitator cannot be reached'

const refused = (reason: Failure): Outcome => ({ kind: 'refused', failure: reason })

/** A claim that was not won; nothing was charged. */
function notClaimed(claiming: Exclude<Claiming, { kind: 'claimed' }>, target: Target): Outcome {
  if (claiming.kind === 'in-doubt') return refused(earlierUnknown())
  // A wall that sold out while this payment was being verified may still get a block back, so it is no final answer.
  if (target === 'next' && claiming.space === 'claimed') return refused(unavailability(target, 'reserved'))
  return refused(unavailability(target, claiming.space))
}
