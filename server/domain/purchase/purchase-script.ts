/**
 * One purchase, start to finish, as a pure script: a generator that yields one request at a time and resumes with
 * its answer. A retry, a restart and the reconciler run the same steps again from what the ledger remembers.
 *
 * The law of the script: money that may have moved is never answered with a demand for more, and a block is given
 * back only on proof (the chain's, or a refusal that provably came before broadcast), never because time passed.
 */

import { StoreUnavailable, type Failure } from '../failure.ts'
import {
  isSignatureReason,
  refusalOfUnsent,
  signatureRefusal,
  type SettleResult,
  type SignatureCheck,
} from './facilitator-errors.ts'
import { unpainted, type Draft, type Listing } from './listing.ts'
import {
  hasSameFields,
  isSamePayment,
  unfitness,
  type Hash,
  type Payment,
  type PaymentKey,
  type Space,
} from './payment.ts'
import {
  isSold,
  type AnswerTo,
  type Landed,
  type Order,
  type Outcome,
  type ChainWait,
  type Purchase,
  type Request,
  type Script,
  type ChainStatus,
} from './purchase.ts'
import {
  cannotCheckSignature,
  earlierElsewhere,
  earlierUnknown,
  facilitatorUnavailable,
  identifierUsed,
  notPersisted,
  paymentCredited,
  paymentRequired,
  paymentsBusy,
  paymentUsed,
  settlementUnknown,
  stillAtIt,
  unavailability,
} from './refusals.ts'
import { ownTarget, placeOf, type Target } from './target.ts'

/** Buys a block or an area, or says what became of this payment when it is known already. */
export function* buy(order: Order): Script<Outcome> {
  const known = yield* ask({ do: 'look-up', key: order.payment })
  return known === undefined ? yield* buyUnknown(order) : yield* answerKnown(known, order)
}

/**
 * Answers a payer whose payment another process has been at for long. What is final is told; what is held is uncertain from
 * now on, because its payer was told to wait.
 */
export function* answerLate(order: Order): Script<Outcome> {
  const known = yield* ask({ do: 'look-up', key: order.payment })
  if (known?.state.kind === 'sold' || known?.state.kind === 'credited') return yield* answerKnown(known, order)
  if (known?.state.kind === 'reserved') yield* markUncertain(known)
  return refused(stillAtIt())
}

/** A payment that is known opens to its payer only: everything about it is public once it is on the chain. */
function* answerKnown(known: Purchase, order: Order): Script<Outcome> {
  const checked = yield* whoPresents(known, order.payment)
  if (checked === 'not-signed') return yield* refuseUnsigned(order)
  if (checked !== 'signed') return refused(cannotCheckSignature())
  if (!answersOn(known, order.target)) return refused(paymentUsed(known))
  if (isSold(known)) return { kind: 'bought', purchase: known }
  if (known.state.kind === 'reserved') return answerFrom(yield* resume(known), order)
  if (known.state.kind === 'released') return yield* tryAgain(known, order)
  return refused(paymentCredited(known.payment.amount, known.state.tx, order.contact))
}

/** Whether the payer presents a payment that is known: as it was, or, once it was given up, signed anew with its nonce. */
function* whoPresents({ payment, state }: Purchase, presented: Payment): Script<SignatureCheck> {
  if (isSamePayment(payment, presented)) return 'signed'
  if (!hasSameFields(payment, presented) && state.kind !== 'released') return 'not-signed'
  return yield* ask({ do: 'check-signature', payment: presented })
}

/** A payment that its payer did not sign: its sender hears what the target is, and nothing of any purchase. */
function* refuseUnsigned(
  { target, payment, now }: Order,
  unfit = 'its payer did not sign the payment',
): Script<Outcome> {
  const { space } = yield* ask({ do: 'check-availability', target, payment, now })
  if (space !== 'open' && space !== 'full') return refused(unavailability(target, space))
  return refused(paymentRequired(unfit))
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
      return purchase.state.isFinal ? purchase : (yield* watch(purchase)).purchase
    case 'sold':
      yield* lookBack(purchase, purchase.state.settled)
      return purchase
    case 'credited':
    case undefined:
      return purchase
  }
}

/** A payment that nothing is written of. If it was refused before, whoever was shown it may have moved its money since. */
function* buyUnknown(order: Order): Script<Outcome> {
  return (yield* watchSeen(order)) ?? (yield* buyFresh(order))
}

function* watchSeen(order: Order): Script<Outcome | undefined> {
  const { seen } = order
  if (seen === undefined) return undefined
  const status = yield* ask({ do: 'ask-chain', payment: seen.payment, head: seen.head, wait: 'none' })
  if (status.kind === 'paid') return yield* giveLanded(order, seen, status.tx)
  return status.kind === 'silent' ? refused(stillAtIt()) : undefined
}

/** A payment moved the money before anything was held for it. */
function* giveLanded(order: Order, landed: Landed, tx: Hash): Script<Outcome> {
  // A picture that was not made by then is made if it can be.
  const painted =
    'code' in order.listing || landed.listing.pixels !== null ? undefined : yield* paint(order.payment, order.listing)
  const pixels = painted === undefined || 'code' in painted ? landed.listing.pixels : painted.pixels
  const given = yield* ask({
    do: 'fulfil-late-payment',
    purchase: { ...landed, listing: { ...landed.listing, pixels } },
    tx,
  })
  return answerFrom({ purchase: given, refusal: settlementUnknown(given) }, order)
}

/** A payment seen for the first time, or `released` and sent again (`order.listing` is then the first one). */
function* buyFresh(order: Order, released?: Purchase): Script<Outcome> {
  const { target, payment, listing, terms, now } = order
  if (!order.armed) return refused(facilitatorUnavailable('Payments are being checked at the moment'))
  const unfit = unfitness(payment, terms, now)
  const checked = yield* ask({ do: 'check-signature', payment })
  if (checked === 'not-signed') return yield* refuseUnsigned(order, unfit)
  if (checked !== 'signed') return refused(checked === 'busy' ? paymentsBusy() : cannotAskChain())

  const { space, prior } = yield* ask({ do: 'check-availability', target, payment, now })
  if (prior === undefined && space === 'claimed') return refused(unavailability(target, space))
  if (unfit !== undefined) {
    if (prior !== undefined) return refused(earlierUnknown())
    return refused(space === 'open' ? paymentRequired(unfit) : unavailability(target, space))
  }
  if ('code' in listing) return refused(listing)
  if (prior === undefined && space !== 'open') return refused(unavailability(target, space))

  // The height is read before the facilitator is asked: what spends the authorization after it was meant for us,
  // what spent it before is a replay, since settled payloads are public.
  const chain = yield* ask({ do: 'read-chain', key: payment })
  if (chain === 'silent' && prior !== undefined) return refused(earlierUnknown())
  if (chain === 'silent') return refused(cannotAskChain())
  if (chain.spent) {
    if (released !== undefined) return answerFrom(yield* watch(released), order)
    const landed = yield* watchSeen(order)
    if (landed !== undefined) return landed
    if (prior !== undefined) return refused(earlierUnknown())
    return refused(paymentRequired('the authorization was used or cancelled before; sign a new one'))
  }

  // The payment is the payer's, and was signed for us just now: nobody else can ask after a payer's purchases.
  const answer = prior === undefined ? undefined : yield* settlePrior(prior, order)
  if (answer !== undefined) return answer

  const verification = yield* ask({ do: 'verify', target, payment })
  if (verification.kind === 'busy') return refused(paymentsBusy())
  if (verification.kind === 'unavailable') return refused(facilitatorUnavailable(UNREACHABLE))
  if (verification.kind === 'invalid') {
    // The prior purchase need not have been the only one, and another may be why the facilitator refuses this payment.
    const others = prior === undefined ? undefined : yield* ask({ do: 'check-availability', target, payment, now })
    if (others?.prior !== undefined) return refused(earlierUnknown())
    return yield* refuseUnlessPaid(
      order,
      { payment, target, listing: unpainted(listing), head: chain.head },
      verification.reason,
    )
  }
  const painted = yield* paint(payment, listing)
  if ('code' in painted) return refused(painted)
  const claiming = yield* ask({ do: 'claim', target, payment, listing: painted, head: chain.head })
  if (claiming.kind === 'abandoned') return refused(stillAtIt())
  if (claiming.kind === 'prior') return refused(earlierUnknown())
  if (claiming.kind === 'lost') return refused(lost(target, claiming.space))
  return answerFrom(yield* settleFirst(claiming.purchase), order)
}

/** Makes the picture of a draft, which costs work: only for a payment that is good, and before anything is held for it. */
function* paint(payment: Payment, draft: Draft): Script<Listing | Failure> {
  if (draft.picture === undefined) return unpainted(draft)
  const pixels = yield* ask({ do: 'paint', payment, picture: draft.picture })
  return 'code' in pixels ? pixels : { ...unpainted(draft), pixels }
}

/** A payment that was given up earlier is sent again: it may have landed meanwhile, or be good for another try. */
function* tryAgain(purchase: Purchase, order: Order): Script<Outcome> {
  const watched = yield* watch(purchase)
  if (watched.status?.kind !== 'unspent') return answerFrom(watched, order)
  return yield* buyFresh({ ...order, target: purchase.target, listing: purchase.listing }, purchase)
}

/** How far a purchase got, and what to tell a payer when it is not sold. */
type Progress = { readonly purchase: Purchase; readonly status?: ChainStatus; readonly refusal: Failure }

/** Settles a purchase just claimed. Only here can a refusal be final, because nothing was sent before. */
function* settleFirst(purchase: Purchase): Script<Progress> {
  const settling = yield* ask({ do: 'settle', purchase })
  const refusal = refusalOfUnsent(settling)
  if (refusal === undefined) return yield* conclude(purchase, yield* askChainAfter(settling, purchase), settling)
  // What reached nobody cannot have been broadcast; what was refused may have been, whatever the refusal says.
  const status = yield* askChain(purchase, settling.kind === 'refused' ? 'next-block' : 'none')
  if (status.kind !== 'unspent') return yield* conclude(purchase, status, settling)
  const released = yield* release(purchase, false)
  return { purchase: released, status, refusal }
}

/** Goes on with a held block, which an earlier try may have paid. From here on only the chain's word ends the purchase. */
function* resume(purchase: Purchase): Script<Progress> {
  const held = yield* markUncertain(purchase)
  const status = yield* askChain(held, 'none')
  if (status.kind !== 'unspent' || !isUncertain(held)) return yield* conclude(held, status)
  const settling = yield* ask({ do: 'settle', purchase: held })
  return yield* conclude(held, yield* askChainAfter(settling, held), settling)
}

/** Draws the consequence of what the chain says; a facilitator's success counts only where it is silent. */
function* conclude(purchase: Purchase, status: ChainStatus, settling?: SettleResult): Script<Progress> {
  if (status.kind === 'paid') return yield* finalize(purchase, status.tx, true)
  if (status.kind === 'void') return yield* giveUp(purchase, status)
  if (status.kind === 'silent' && settling?.kind === 'success') return yield* finalize(purchase, settling.tx, false)
  return { purchase: yield* markUncertain(purchase), status, refusal: settlementUnknown(purchase) }
}

/** Looks whether a payment that was given up landed after all; if it did, its payer gets a block or is owed one. */
function* watch(purchase: Purchase): Script<Progress> {
  const status = yield* askChain(purchase, 'none')
  if (status.kind === 'paid') {
    const given = yield* ask({ do: 'fulfil-late-payment', purchase, tx: status.tx })
    return { purchase: given, status, refusal: settlementUnknown(given) }
  }
  if (status.kind === 'void') return yield* giveUp(purchase, status)
  return { purchase, status, refusal: settlementUnknown(purchase) }
}

/** Renders progress for the payer who asks. */
function answerFrom({ purchase, refusal }: Progress, order: Order): Outcome {
  const { payment, state } = purchase
  if (state.kind === 'credited') return refused(paymentCredited(payment.amount, state.tx, order.contact))
  if (!isSold(purchase)) return refused(refusal)
  return answersOn(purchase, order.target) ? { kind: 'bought', purchase } : refused(paymentUsed(purchase))
}

/** A facilitator's refusal stands unless the payment was spent on us since we looked, or the refusal is its own trouble. */
function* refuseUnlessPaid(order: Order, landed: Landed, reason: string): Script<Outcome> {
  const { payment, head } = landed
  const status = yield* ask({ do: 'ask-chain', payment, head, wait: 'none' })
  if (status.kind === 'silent') return refused(cannotAskChain())
  if (status.kind === 'paid') return yield* giveLanded(order, landed, status.tx)
  if (!isSignatureReason(reason)) return refused(paymentRequired(reason))
  return refused(signatureRefusal(yield* ask({ do: 'check-for-token', payment }), reason))
}

/** Ends an earlier purchase of the same payer for the same target first; `undefined` when the new one may go on. */
function* settlePrior(prior: Purchase, { target: asked, payment }: Order): Script<Outcome | undefined> {
  const isNamed = payment.identifier !== undefined && payment.identifier === prior.payment.identifier
  if (isNamed && !answersOn(prior, asked)) return refused(identifierUsed(prior))
  const end = isSold(prior) ? prior : yield* ask({ do: 'resolve-other', key: prior.payment })
  if (end?.state.kind === 'reserved') return refused(earlierUnknown())
  if (end === undefined || !isSold(end)) return undefined
  // Another request of the payer has it, and another one may be owed: the payer's next request looks again.
  if (!(yield* ask({ do: 'hand-over', purchase: end }))) return refused(earlierUnknown())
  // One that landed late may have got another block than the one asked for, which its payer must hear before paying more.
  if (!answersOn(end, asked)) return refused(earlierElsewhere(end))
  return { kind: 'bought', purchase: end, isEarlier: true }
}

/**
 * Looks at a sale again: a facilitator's word can be false, and a reorganisation can undo what was seen. The deed stays
 * with its payer; while the authorization is good, it is settled again.
 */
function* lookBack(purchase: Purchase, settled: boolean): Script<void> {
  const status = yield* askAndSettle(purchase)
  if (status.kind === 'silent') return
  if (status.kind === 'paid')
    return yield* ask({ do: status.final === true ? 'mark-final' : 'confirm', purchase, tx: status.tx })
  if (status.kind === 'void' && status.final === true) return yield* ask({ do: 'write-off', purchase })
  if (settled) yield* ask({ do: 'mark-missing', purchase })
}

function* askAndSettle(purchase: Purchase): Script<ChainStatus> {
  // What was seen to pay, or was named, most likely still does.
  const status = yield* askChain(purchase, 'none', isSold(purchase) ? purchase.state.tx : undefined)
  if (status.kind !== 'unspent') return status
  return yield* askChainAfter(yield* ask({ do: 'settle', purchase }), purchase)
}

function* finalize(purchase: Purchase, tx: Hash, settled: boolean): Script<Progress> {
  try {
    const sold = yield* ask({ do: 'finalize', purchase, tx, settled })
    return { purchase: sold, refusal: settlementUnknown(sold) }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    return { purchase: yield* markUncertain(purchase), refusal: notPersisted(purchase) }
  }
}

/** Gives a block back for a payment that ended elsewhere; unless that is final, it is watched on. */
function* giveUp(purchase: Purchase, status: Extract<ChainStatus, { kind: 'void' }>): Script<Progress> {
  const released = yield* release(purchase, status.final === true)
  return { purchase: released, status, refusal: paymentRequired(status.why) }
}

function* release(purchase: Purchase, isFinal: boolean): Script<Purchase> {
  yield* ask({ do: 'release', purchase, isFinal })
  return { ...purchase, state: { kind: 'released', isFinal } }
}

/** Writes that the payer of a held block is told to wait: no refusal is final from here on, whoever hears it. */
function* markUncertain(purchase: Purchase): Script<Purchase> {
  if (purchase.state.kind !== 'reserved' || purchase.state.uncertain) return purchase
  try {
    return yield* ask({ do: 'mark-uncertain', purchase })
  } catch (error) {
    // The block is held either way, and its purchase unanswered.
    if (!(error instanceof StoreUnavailable)) throw error
    return purchase
  }
}

const isUncertain = ({ state }: Purchase) => state.kind === 'reserved' && state.uncertain

function askChain(purchase: Purchase, wait: ChainWait, named?: Hash): Script<ChainStatus> {
  const request = { do: 'ask-chain', payment: purchase.payment, head: purchase.head, wait } as const
  return ask(named === undefined ? request : { ...request, named })
}

/** Looks for what a settlement has just done, first in the transaction that its facilitator named. */
const askChainAfter = (settling: SettleResult, purchase: Purchase): Script<ChainStatus> =>
  askChain(purchase, 'settling', settling.kind === 'success' ? settling.tx : undefined)

/** One request of a script, and its answer. */
function* ask<R extends Request>(request: R): Script<AnswerTo<R['do']>> {
  return (yield request) as AnswerTo<R['do']>
}

/** A payment answers where it was first sent and on the block it holds or bought, nowhere else. */
export function answersOn(purchase: Purchase, asked: Target): boolean {
  const { target, state } = purchase
  if (asked === ownTarget(purchase)) return asked === target || state.kind !== 'released'
  return asked === target && (placeOf(target).at === 'next' || state.kind !== 'sold')
}

const cannotAskChain = () => facilitatorUnavailable('The chain cannot be asked at the moment')

const UNREACHABLE = 'The payment facilitator cannot be reached'

const refused = (reason: Failure): Outcome => ({ kind: 'refused', failure: reason })

/** A claim that was not won. A wall that sold out meanwhile may still get a block back, so that is no final answer. */
const lost = (target: Target, space: Exclude<Space, 'open'>): Failure =>
  unavailability(target, placeOf(target).at === 'next' && space === 'claimed' ? 'reserved' : space)
