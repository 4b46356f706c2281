/**
 * One purchase, start to finish, as a pure script: a generator that yields one request at a time and resumes with
 * its answer. A retry, a restart and the reconciler run the same steps again from what the ledger remembers.
 *
 * The law of the script: money that may have moved is never answered with a demand for more, and a block is given
 * back only on proof (the chain's, or a refusal that provably came before broadcast), never because time passed.
 */

import { type Failure, StoreUnavailable } from '../failure.ts'
import { refusedPayer } from './charging.ts'
import { answersOn, besidePrior, wasHandedTo } from './claim-rules.ts'
import {
  isSignatureReason,
  refusalOfUnsent,
  saysUsed,
  type SettleResult,
  signatureRefusal,
} from './facilitator-errors.ts'
import { unpainted, type Draft, type Listing } from './listing.ts'
import {
  type Hash,
  hasSameFields,
  isRenewal,
  isSamePayment,
  type Payment,
  type PaymentKey,
  unfitness,
} from './payment.ts'
import {
  type AnswerTo,
  type Availability,
  type ChainStatus,
  type ChainWait,
  isSold,
  type Order,
  type Outcome,
  type Purchase,
  refused,
  type Request,
  type Script,
  type SoldPurchase,
  type UnclaimedPayment,
} from './purchase.ts'
import {
  cannotAskChain,
  cannotCheckSignature,
  cannotLookUp,
  earlierElsewhere,
  earlierUnknown,
  facilitatorUnreachable,
  identifierUsed,
  lostClaim,
  notArmed,
  notPersisted,
  paymentCredited,
  paymentRequired,
  paymentsBusy,
  paymentUnmatched,
  paymentUsed,
  settlementUnknown,
  stillAtIt,
  unavailability,
} from './refusals.ts'

/** Buys a block or an area, or says what became of this payment when it is known already. */
export function* buy(order: Order): Script<Outcome> {
  const known = yield* ask({ do: 'look-up', key: order.payment })
  return known === undefined ? yield* buyFresh(order) : yield* answerKnown(known, order)
}

/**
 * Answers a payer whose payment another process has held for long. A final purchase is answered as it is. A held one becomes
 * uncertain, because its payer is told to wait.
 */
export function* answerLate(order: Order): Script<Outcome> {
  const known = yield* ask({ do: 'look-up', key: order.payment })
  if (known?.state.kind === 'sold' || known?.state.kind === 'credited') return yield* answerKnown(known, order)
  if (known?.state.kind === 'reserved') yield* markUncertain(known)
  return refused(stillAtIt())
}

/** Only its payer learns about a known payment. All of it is public once it is on the chain, so the signature is checked. */
function* answerKnown(known: Purchase, order: Order): Script<Outcome> {
  const { payment, target } = order
  const checked = isSamePayment(known.payment, payment) ? 'signed' : yield* ask({ do: 'check-signature', payment })
  if (checked === 'not-signed') return yield* refuseUnsigned(order)
  if (checked !== 'signed') return refused(cannotCheckSignature())
  // Nothing was bought for it, whatever it was to buy; of a lost purchase the wall knows only the money.
  if (known.state.kind === 'credited') return owed(known, known.state.tx, order)
  if (!isSameMoney(known, payment)) return refusedPayer(paymentUsed(known), unended(known))
  if (!answersOn(known, target)) return refusedPayer(paymentUsed(known), known)
  if (isSold(known)) return { kind: 'bought', purchase: known }
  if (known.state.kind === 'reserved') return answerFrom(yield* resume(known), order)
  return yield* tryAgain(known, order)
}

/** Whether a payment is the known one, or after a release the same money signed for another time. */
const isSameMoney = ({ payment, state }: Purchase, presented: Payment): boolean =>
  state.kind === 'released' ? isRenewal(payment, presented) : hasSameFields(payment, presented)

/** A purchase as another authorization of its nonce knows it: where nothing was bought, that one may have moved its own money. */
const unended = (purchase: Purchase): Purchase =>
  purchase.state.kind === 'released' ? { ...purchase, state: { kind: 'released', isFinal: false } } : purchase

/** Refuses a payment that its payer did not sign. The sender learns the state of the target, and nothing of any purchase. */
function* refuseUnsigned(
  { target, payment, now }: Order,
  unfit = 'its payer did not sign the payment',
): Script<Outcome> {
  const { space } = yield* ask({ do: 'check-availability', target, payment, now })
  if (space !== 'open' && space !== 'full') return refused(unavailability(target, space))
  return refused(paymentRequired(unfit))
}

/**
 * Works on a purchase that no request waits for: settles or releases what is held, gives late payments their block, and
 * checks that the payment of a sale or a credit is on the chain. Answers the purchase as it was before that check.
 */
export function* reconcile(key: PaymentKey): Script<Purchase | undefined> {
  const purchase = yield* ask({ do: 'look-up', key })
  switch (purchase?.state.kind) {
    case 'reserved':
      return (yield* resume(purchase)).purchase
    case 'released':
      return purchase.state.isFinal ? purchase : (yield* watch(purchase)).purchase
    case 'sold':
    case 'credited':
      yield* lookBack(purchase)
      return purchase
    case undefined:
      return purchase
  }
}

/** A payment that the ledger does not know, or a `released` one sent again (`order` then has its first target and listing). */
function* buyFresh(order: Order, released?: Purchase): Script<Outcome> {
  const { target, payment, listing, terms, now } = order
  const unfit = unfitness(payment, terms, now)
  const checked = yield* ask({ do: 'check-signature', payment })
  if (checked === 'not-signed') return yield* refuseUnsigned(order, unfit)
  if (checked !== 'signed') return refused(checked === 'busy' ? paymentsBusy() : cannotAskChain())
  const refuse = (reason: Failure) => refusedPayer(reason, released)

  const available = yield* ask({ do: 'check-availability', target, payment, now })
  const { prior } = available
  // What was answered with a receipt is answered with it again, whatever became of the payment since.
  if (prior !== undefined && wasHandedTo(prior, payment) && answersOn(prior, target))
    return yield* handOver(prior, order, refuse)
  // A payer gets the receipt of an earlier purchase whether or not payments can be taken.
  if (!order.armed && prior === undefined) return refuse(notArmed())
  const refusal = refusalOf(order, unfit, available)
  if (refusal !== undefined && (released !== undefined || !paysWall(order))) return refuse(refusal)

  // The height is read before the facilitator is asked: what spends the authorization after it was meant for us,
  // what spent it before is a replay, since settled payloads are public.
  const chain = yield* ask({ do: 'read-chain', key: payment, isRefused: refusal !== undefined })
  if (chain === 'silent' && prior !== undefined) return refuse(earlierUnknown())
  if (chain === 'silent') return refuse(refusal === undefined ? cannotAskChain() : cannotLookUp())
  if (chain.spent && released !== undefined) return answerFrom(yield* watch(released), order)
  if (chain.spent) return yield* refuseSpent(order, prior)
  if (refusal !== undefined) return refuse(refusal)
  if ('code' in listing) return refuse(listing)

  // The payment is the payer's, and was signed for us just now: nobody else can ask after a payer's purchases.
  const answer = prior === undefined ? undefined : yield* settlePrior(prior, order, refuse)
  if (answer !== undefined) return answer
  if (!order.armed) return refuse(notArmed())

  const verification = yield* ask({ do: 'verify', target, payment })
  if (verification.kind === 'busy') return refuse(paymentsBusy())
  if (verification.kind === 'unavailable') return refuse(facilitatorUnreachable())
  if (verification.kind === 'invalid') {
    // The prior purchase need not have been the only one, and another may be why the facilitator refuses this payment.
    const others = prior === undefined ? undefined : yield* ask({ do: 'check-availability', target, payment, now })
    if (others?.prior !== undefined) return refuse(earlierUnknown())
    const unclaimed = { payment, target, listing: unpainted(listing), head: chain.head }
    return yield* refuseInvalid(order, released ?? unclaimed, verification.reason, refuse)
  }
  const painted = yield* paint(payment, listing)
  if ('code' in painted) return refuse(painted)
  const claiming = yield* ask({ do: 'claim', target, payment, listing: painted, head: chain.head })
  if (claiming.kind === 'abandoned') return refuse(stillAtIt())
  if (claiming.kind === 'prior') return refuse(earlierUnknown())
  if (claiming.kind === 'lost') return refuse(lostClaim(target, claiming.space))
  return answerFrom(yield* settleFirst(claiming.purchase), order)
}

/** Why a payment cannot buy its target, whatever a facilitator would say of it. */
function refusalOf(order: Order, unfit: string | undefined, { space, prior }: Availability): Failure | undefined {
  if (prior !== undefined) return unfit === undefined ? undefined : besidePrior(prior, order.payment)
  if (space !== 'open') return unavailability(order.target, space)
  return unfit === undefined ? undefined : paymentRequired(unfit)
}

/** Whether a payment moves our token to an address of this wall, for whatever price. */
const paysWall = ({ payment: { to, accepted }, terms, payees }: Order): boolean =>
  payees.has(to) && accepted.asset === terms.asset && accepted.network === terms.network

/** A payment that was spent before the wall saw it. Nothing is sold for it; if it paid the wall, it is owed to its payer. */
function* refuseSpent(order: Order, prior: Purchase | undefined): Script<Outcome> {
  const { payment, contact } = order
  const status = yield* ask({ do: 'ask-chain', payment, head: 0n, wait: 'none' })
  if (status.kind === 'paid') return refused(paymentUnmatched(payment.amount, status.tx, contact))
  if (status.kind !== 'void') return refused(cannotLookUp())
  if (prior !== undefined) return refusedPayer(besidePrior(prior, payment), undefined)
  return refusedPayer(paymentRequired('the authorization was used or cancelled before; sign a new one'), undefined)
}

/** Makes the picture of a draft. This costs work, so it comes after verification, and before a block is held. */
function* paint(payment: Payment, draft: Draft): Script<Listing | Failure> {
  if (draft.picture === undefined) return unpainted(draft)
  const pixels = yield* ask({ do: 'paint', payment, picture: draft.picture })
  return 'code' in pixels ? pixels : { ...unpainted(draft), pixels }
}

/** A released payment is sent again: it may have landed meanwhile, or may still be good for another try. */
function* tryAgain(purchase: Purchase, order: Order): Script<Outcome> {
  const watched = yield* watch(purchase)
  if (watched.status?.kind !== 'unspent') return answerFrom(watched, order)
  return yield* buyFresh({ ...order, target: purchase.target, listing: purchase.listing }, purchase)
}

/** How far a purchase got, and what to tell a payer when it is not sold. */
type Progress = { readonly purchase: Purchase; readonly status?: ChainStatus; readonly refusal: Failure }

/** Settles a purchase for the first time. Only here can a refusal release it, because nothing was sent before. */
function* settleFirst(purchase: Purchase): Script<Progress> {
  const settling = yield* ask({ do: 'settle', purchase })
  const refusal = refusalOfUnsent(settling)
  if (refusal === undefined) return yield* conclude(purchase, yield* askChainAfter(settling, purchase), settling)
  // A payment that reached nobody was not broadcast. A refused one may have been, whatever the refusal says.
  const status = yield* askChain(purchase, settling.kind === 'refused' ? 'next-block' : 'none')
  if (status.kind !== 'unspent') return yield* conclude(purchase, status, settling)
  const released = yield* release(purchase, false)
  return { purchase: released, status, refusal }
}

/** Continues with a held block, which an earlier try may have paid. From here on only the chain decides. */
function* resume(purchase: Purchase): Script<Progress> {
  const held = yield* markUncertain(purchase)
  const status = yield* askChain(held, 'none')
  if (status.kind !== 'unspent' || !isUncertain(held)) return yield* conclude(held, status)
  const settling = yield* ask({ do: 'settle', purchase: held })
  return yield* conclude(held, yield* askChainAfter(settling, held), settling)
}

/** Acts on the chain's status. A facilitator's success counts only if the chain is silent. */
function* conclude(purchase: Purchase, status: ChainStatus, settling?: SettleResult): Script<Progress> {
  if (status.kind === 'paid') return yield* finalize(purchase, status.tx, true)
  if (status.kind === 'void') return yield* giveUp(purchase, status)
  if (status.kind === 'silent' && settling?.kind === 'success') return yield* finalize(purchase, settling.tx, false)
  return { purchase: yield* markUncertain(purchase), status, refusal: settlementUnknown(purchase) }
}

/** Checks whether a released payment has landed after all. If so, its payer gets a block or a credit. */
function* watch(purchase: Purchase): Script<Progress> {
  const status = yield* askChain(purchase, 'none')
  if (status.kind === 'paid') {
    const given = yield* ask({ do: 'fulfil-late-payment', purchase, tx: status.tx })
    return { purchase: given, status, refusal: settlementUnknown(given) }
  }
  if (status.kind === 'void') return yield* giveUp(purchase, status)
  return { purchase, status, refusal: settlementUnknown(purchase) }
}

/** The outcome for the payer who asks. */
function answerFrom({ purchase, refusal }: Progress, order: Order): Outcome {
  if (purchase.state.kind === 'credited') return owed(purchase, purchase.state.tx, order)
  if (!isSold(purchase)) return refusedPayer(refusal, purchase)
  return answersOn(purchase, order.target)
    ? { kind: 'bought', purchase }
    : refusedPayer(paymentUsed(purchase), purchase)
}

const owed = (purchase: Purchase, tx: Hash, { contact }: Order): Outcome =>
  refusedPayer(paymentCredited(purchase.payment.amount, tx, contact), purchase)

/**
 * Refuses what a facilitator calls invalid, unless the fault is the facilitator's own. It may still land, so it is kept and
 * watched like a released one.
 */
function* refuseInvalid(
  order: Order,
  refusedPayment: Purchase | UnclaimedPayment,
  reason: string,
  refuse: Refuse,
): Script<Outcome> {
  const { payment } = order
  const refusal = isSignatureReason(reason)
    ? signatureRefusal(yield* ask({ do: 'check-for-token', payment }), reason)
    : paymentRequired(reason)
  if (refusal.code !== 'payment_required') return refuse(refusal)
  const watched = yield* watch(
    'state' in refusedPayment ? refusedPayment : yield* ask({ do: 'record-unclaimed', purchase: refusedPayment }),
  )
  const isUnspent = watched.status?.kind === 'unspent' && !saysUsed(reason)
  return answerFrom(isUnspent ? { ...watched, refusal } : watched, order)
}

type Refuse = (reason: Failure) => Outcome

/** Ends an earlier purchase of the same payer for the same target first; `undefined` when the new one may go on. */
function* settlePrior(prior: Purchase, order: Order, refuse: Refuse): Script<Outcome | undefined> {
  const { target: asked, payment } = order
  const isNamed = payment.identifier !== undefined && payment.identifier === prior.payment.identifier
  if (isNamed && !answersOn(prior, asked)) return refuse(identifierUsed(prior))
  const end = isSold(prior) ? prior : yield* ask({ do: 'resolve-other', key: prior.payment })
  if (end?.state.kind === 'reserved') return refuse(earlierUnknown())
  return end === undefined || !isSold(end) ? undefined : yield* handOver(end, order, refuse)
}

/** Answers with the receipt of an earlier purchase, for which nothing more is charged. */
function* handOver(end: SoldPurchase, { target: asked, payment }: Order, refuse: Refuse): Script<Outcome> {
  // Another request of the payer gives that receipt. The payer may be owed another one, so its next request looks again.
  if (!(yield* ask({ do: 'hand-over', purchase: end }))) return refuse(earlierUnknown())
  // A late payment may have got another block than the one asked for. Its payer must know that before paying more.
  if (!answersOn(end, asked)) return refuse(wasHandedTo(end, payment) ? paymentUsed(end) : earlierElsewhere(end))
  return { kind: 'bought', purchase: end, isEarlier: true }
}

/**
 * Checks the payment of a sale again: a facilitator's answer can be false, and a reorganisation can undo a transfer. The
 * buyer keeps the block; while the authorization is valid, it is settled again. A credit ends once it can never be paid; until
 * then nothing hangs on it.
 */
function* lookBack(purchase: Purchase): Script<void> {
  const status = yield* askAndSettle(purchase)
  if (status.kind === 'silent') return
  if (status.kind === 'paid' && status.final === true) return yield* ask({ do: 'mark-final', purchase, tx: status.tx })
  if (status.kind === 'void' && status.final === true) return yield* ask({ do: 'write-off', purchase })
  if (!isSold(purchase)) return
  if (status.kind === 'paid') return yield* ask({ do: 'confirm', purchase, tx: status.tx })
  if (purchase.state.settled) yield* ask({ do: 'mark-missing', purchase })
}

function* askAndSettle(purchase: Purchase): Script<ChainStatus> {
  // The known transaction is most likely still the one.
  const status = yield* askChain(purchase, 'none', 'tx' in purchase.state ? purchase.state.tx : undefined)
  if (status.kind !== 'unspent' || !isSold(purchase)) return status
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

/** Releases the block of a payment that cannot pay us. Unless that is final, the payment is still watched. */
function* giveUp(purchase: Purchase, status: Extract<ChainStatus, { kind: 'void' }>): Script<Progress> {
  const released = yield* release(purchase, status.final === true)
  return { purchase: released, status, refusal: paymentRequired(status.why) }
}

function* release(purchase: Purchase, isFinal: boolean): Script<Purchase> {
  yield* ask({ do: 'release', purchase, isFinal })
  return { ...purchase, state: { kind: 'released', isFinal } }
}

/** Writes that the payer of a held block was told to wait. From then on no refusal releases the block. */
function* markUncertain(purchase: Purchase): Script<Purchase> {
  if (purchase.state.kind !== 'reserved' || purchase.state.uncertain) return purchase
  try {
    return yield* ask({ do: 'mark-uncertain', purchase })
  } catch (error) {
    // The block stays held and the purchase unanswered, with the mark or without it.
    if (!(error instanceof StoreUnavailable)) throw error
    return purchase
  }
}

const isUncertain = ({ state }: Purchase) => state.kind === 'reserved' && state.uncertain

function askChain(purchase: Purchase, wait: ChainWait, named?: Hash): Script<ChainStatus> {
  const request = { do: 'ask-chain', payment: purchase.payment, head: purchase.head, wait } as const
  return ask(named === undefined ? request : { ...request, named })
}

/** Asks the chain after a settlement, first for the transaction that the facilitator named. */
const askChainAfter = (settling: SettleResult, purchase: Purchase): Script<ChainStatus> =>
  askChain(purchase, 'settling', settling.kind === 'success' ? settling.tx : undefined)

function* ask<R extends Request>(request: R): Script<AnswerTo<R['do']>> {
  return (yield request) as AnswerTo<R['do']>
}
