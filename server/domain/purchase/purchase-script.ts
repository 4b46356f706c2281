/**
 * A purchase from start to finish, as a pure script: a generator that yields one request at a time and resumes with the answer.
 * A retry, a restart and the reconciler run the same steps again from the state in the ledger.
 *
 * Two rules hold for every path:
 *
 * - While a payer's money may have moved, the payer is never asked to pay again.
 * - A block is released only on proof: from the chain, or by a refusal before broadcast that the chain confirms. Time alone
 *   never releases a block.
 */

import { StoreUnavailable, isFailure, type Failure } from '../failure.ts'
import { withChargeStatus } from './charging.ts'
import { coversTarget, paysWall, refuseForPrior, wasReceiptReusedFor } from './claim-rules.ts'
import {
  isSignatureReason,
  findNamedTransaction,
  refuseIfUnsent,
  reportsNonceUsed,
  type SettleResult,
  refuseSignature,
} from './facilitator-errors.ts'
import { withoutPicture, withPictureOf, type Draft, type Listing } from './listing.ts'
import { type Hash, isSamePayment, type Payment, type PaymentKey, findRejectionReason } from './payment.ts'
import {
  type AnswerTo,
  type AvailabilityCheck,
  type ChainStatus,
  type ChainWait,
  type Credited,
  isPaymentOf,
  isEnded,
  isSold,
  type BuyOrder,
  type Outcome,
  type Purchase,
  hideUnprovenRelease,
  type ScriptRequest,
  type Script,
  type SoldPurchase,
  type UnclaimedPayment,
} from './purchase.ts'
import {
  cannotAskChain,
  cannotCheckSignature,
  chargeUnknown,
  earlierBoughtOther,
  earlierUnresolved,
  facilitatorUnreachable,
  identifierUsed,
  lostClaim,
  orderMismatch,
  payerDenied,
  railNotArmed,
  notPersisted,
  paymentCredited,
  paymentRequired,
  paymentsBusy,
  paymentUnmatched,
  paymentUsed,
  settlementUnknown,
  alreadyProcessing,
  unavailability,
} from './refusals.ts'

/** Buys a block or an area. If the payment is already known, returns its outcome instead. */
export function* buy(order: BuyOrder): Script<Outcome> {
  const known = yield* ask({ do: 'look-up', key: order.payment })
  return known === undefined ? yield* buyFresh(order) : yield* answerKnown(known, order)
}

/**
 * Answers a payer whose payment another process has been working on for a long time. If the purchase has ended, the payer
 * gets its outcome. If it is held, it is marked as uncertain and the payer is asked to wait.
 */
export function* answerHeldElsewhere(order: BuyOrder): Script<Outcome> {
  const known = yield* ask({ do: 'look-up', key: order.payment })
  if (known !== undefined && isEnded(known)) return yield* answerKnown(known, order)
  if (known?.state.kind === 'reserved') yield* markUncertain(known)
  return withChargeStatus(alreadyProcessing(), undefined)
}

/**
 * Answers a payment that the ledger knows, but only if its own payer sent it. Anybody can resend a settled payment,
 * because it is public on the chain, so the signature is checked.
 */
function* answerKnown(known: Purchase, order: BuyOrder): Script<Outcome> {
  const { payment, target } = order
  const checked = isSamePayment(known.payment, payment) ? 'signed' : yield* ask({ do: 'check-signature', payment })
  if (checked === 'not-signed') return yield* refuseUnsigned(order)
  if (checked !== 'signed') return cannotCheckSignature()
  // A credited payment bought nothing, whatever was requested. After a restore, the wall may know only the payment, not
  // the purchase.
  if (known.state.kind === 'credited') return creditOutcome(known, known.state, order)
  if (!isPaymentOf(known, payment) || !coversTarget(known, target))
    return withChargeStatus(paymentUsed(known), hideUnprovenRelease(payment, known))
  if (isSold(known)) return { kind: 'bought', purchase: known }
  if (known.state.kind === 'reserved') return toOutcome(yield* resume(known), order)
  return yield* retryReleased(known, order)
}

/** Refuses a payment that its payer did not sign. The sender learns the state of the target, but nothing about any purchase. */
function* refuseUnsigned(
  { target, payment, now }: BuyOrder,
  reason = 'the payment is not signed by its payer',
): Script<Outcome> {
  const { space } = yield* ask({ do: 'check-availability', target, payment, now })
  if (space !== 'open' && space !== 'full') return unavailability(target, space)
  return paymentRequired(reason)
}

/**
 * Advances a purchase that no request is waiting for: settles or releases a held one, gives a late payment its block,
 * and confirms the payment of a sale or a credit on the chain. For a sale or a credit, it returns the purchase as it
 * was before the check.
 */
export function* reconcile(key: PaymentKey): Script<Purchase | undefined> {
  const purchase = yield* ask({ do: 'look-up', key })
  switch (purchase?.state.kind) {
    case 'reserved':
      return (yield* resume(purchase)).purchase
    case 'released':
      return purchase.state.isFinal ? purchase : (yield* checkReleased(purchase)).purchase
    case 'sold':
    case 'credited':
      yield* checkConfirmation(purchase)
      return purchase
    case undefined:
      return purchase
  }
}

/**
 * Buys with a new payment, or with a `released` one that was sent again. In the latter case, `order` has the original
 * target and listing.
 */
function* buyFresh(order: BuyOrder, released?: Purchase): Script<Outcome> {
  const { target, payment, listing, terms, now } = order
  // This is checked before anything leaves this process. Known payments follow their own rules, so that an altered
  // resend cannot make its payer believe that nothing was charged.
  if (payment.binding === 'mismatch' && released === undefined && !isFailure(listing)) return orderMismatch()
  const rejection = findRejectionReason(payment, terms, now)
  const checked = yield* ask({ do: 'check-signature', payment })
  if (checked === 'not-signed') return yield* refuseUnsigned(order, rejection)
  if (checked !== 'signed') return checked === 'busy' ? paymentsBusy() : cannotAskChain()
  if (order.isDenied && released === undefined) return payerDenied()
  const refuse = (reason: Failure) => withChargeStatus(reason, released)

  const available = yield* ask({ do: 'check-availability', target, payment, now })
  const { prior } = available
  // A payment that was answered with an earlier receipt gets the same receipt again, whatever has happened since.
  if (prior !== undefined && wasReceiptReusedFor(prior, payment) && coversTarget(prior, target))
    return yield* reuseReceipt(prior, order, refuse)
  // A payer gets the receipt of an earlier purchase even while no payments are accepted.
  if (!order.armed && prior === undefined) return refuse(railNotArmed())
  const refusal = findEligibilityRefusal(order, rejection, available)
  if (refusal !== undefined && (released !== undefined || !paysWall(order))) return refuse(refusal)

  // The height is read before the facilitator is called. A transfer after this height was meant for this purchase; an earlier
  // one is a replay, because settled payments are public.
  const chain = yield* ask({ do: 'read-chain', key: payment, isRefused: refusal !== undefined })
  if (chain === 'silent' && prior !== undefined) return refuse(earlierUnresolved())
  if (chain === 'silent') return refuse(refusal === undefined && released === undefined ? cannotAskChain() : chargeUnknown())
  if (chain.spent && released !== undefined) return yield* endReleased(yield* checkReleased(released), order)
  if (chain.spent) return yield* refuseSpent(order, prior)
  if (refusal !== undefined) return refuse(refusal)
  if (isFailure(listing)) return refuse(listing)

  // The payer itself signed this payment, and it is unspent. Nobody else can get this far, so it is safe to reveal the prior
  // purchase.
  const answer = prior === undefined ? undefined : yield* resolvePrior(prior, order, refuse)
  if (answer !== undefined) return answer
  if (!order.armed) return refuse(railNotArmed())

  // A facilitator that has a payment could broadcast it. A refused payment is stored without its picture.
  const sent = released ?? { payment, target, listing: { ...withoutPicture(listing), pixels: null }, head: chain.head }
  const verification = yield* ask({ do: 'verify', target, payment })
  if (verification.kind === 'busy') return refuse(paymentsBusy())
  if (verification.kind === 'unavailable') return refuse(facilitatorUnreachable())
  if (verification.kind === 'invalid') {
    // There may be more than one prior purchase, and another one may be why the facilitator refuses this payment.
    const others = prior === undefined ? undefined : yield* ask({ do: 'check-availability', target, payment, now })
    if (others?.prior !== undefined) return refuse(earlierUnresolved())
    return yield* refuseInvalid(order, sent, verification.reason, refuse)
  }
  const painted = yield* makePicture(payment, listing)
  if (isFailure(painted)) return refuse(painted)
  const claiming = yield* ask({ do: 'claim', target, payment, listing: painted, head: chain.head })
  if (claiming.kind === 'abandoned') return refuse(alreadyProcessing())
  if (claiming.kind === 'prior') return refuse(earlierUnresolved())
  if (claiming.kind === 'lost') return toOutcome(yield* watchRefused(sent, lostClaim(order, claiming.space)), order)
  return toOutcome(yield* settleFirst(claiming.purchase), order)
}

/** Why a payment cannot buy its target; `undefined` if it can. This is checked before any facilitator is called. */
function findEligibilityRefusal(
  order: BuyOrder,
  rejection: string | undefined,
  { space, prior }: AvailabilityCheck,
): Failure | undefined {
  if (prior !== undefined) return rejection === undefined ? undefined : refuseForPrior(prior, order.payment)
  if (space !== 'open') return unavailability(order.target, space)
  return rejection === undefined ? undefined : paymentRequired(rejection)
}

/**
 * Refuses a payment that was spent before the wall received it. The payment buys nothing; if it paid the wall, its
 * payer gets the operator's contact.
 */
function* refuseSpent(order: BuyOrder, prior: Purchase | undefined): Script<Outcome> {
  const { payment, contact } = order
  const status = yield* ask({ do: 'ask-chain', payment, head: 0n, wait: 'none' })
  if (status.kind === 'paid') return paymentUnmatched(payment.amount, status.tx, contact)
  if (status.kind !== 'void') return chargeUnknown()
  const used = paymentRequired('the authorization was already used or cancelled; sign a new one')
  return withChargeStatus(prior === undefined ? used : refuseForPrior(prior, payment), undefined)
}

/**
 * Converts the picture of a draft. This happens after verification, because it is costly, and before a block is held,
 * because it may fail.
 */
function* makePicture(payment: Payment, draft: Draft): Script<Listing | Failure> {
  if (draft.picture === undefined) return withoutPicture(draft)
  const pixels = yield* ask({ do: 'paint', payment, picture: draft.picture })
  return isFailure(pixels) ? pixels : { ...withoutPicture(draft), pixels }
}

/**
 * Answers a released payment that was sent again. It may have settled meanwhile, or may still be used for another
 * attempt.
 */
function* retryReleased(purchase: Purchase, order: BuyOrder): Script<Outcome> {
  const watched = yield* checkReleased(purchase)
  if (watched.status?.kind !== 'unspent') return yield* endReleased(watched, order)
  const listing = withPictureOf(purchase.listing, order)
  return yield* buyFresh({ ...order, target: purchase.target, listing }, purchase)
}

/** The outcome for the payer of a `released` payment that will not be retried. */
function* endReleased(watched: PurchaseProgress, order: BuyOrder): Script<Outcome> {
  if (watched.status?.kind === 'void' && watched.status.final !== true) {
    // No payer is asked for a new payment while another of their payments is unfinished. A process may have claimed one
    // since.
    const { prior } = yield* ask({ do: 'check-availability', ...order })
    if (prior !== undefined) return withChargeStatus(refuseForPrior(prior, order.payment), watched.purchase)
  }
  return toOutcome(watched, order)
}

/** The state of a purchase after a step, and the refusal to give if it is not sold. */
type PurchaseProgress = { readonly purchase: Purchase; readonly status?: ChainStatus; readonly refusal: Failure }

/**
 * Settles a purchase for the first time. At this step only, a facilitator's refusal can release the block, because
 * nothing was sent before.
 */
function* settleFirst(purchase: Purchase): Script<PurchaseProgress> {
  const settling = yield* ask({ do: 'settle', purchase })
  const refusal = refuseIfUnsent(settling)
  if (refusal === undefined)
    return yield* applyChainStatus(purchase, yield* askChainAfter(settling, purchase), settling)
  // An unsent payment was not broadcast. A refused payment may have been broadcast, whatever the facilitator says, so a
  // later block decides.
  const status = yield* askChain(purchase, settling.kind === 'refused' ? 'next-block' : 'none')
  if (status.kind !== 'unspent') return yield* applyChainStatus(purchase, status, settling)
  const released = yield* release(purchase, false)
  return { purchase: released, status, refusal }
}

/** Continues with a held block that an earlier attempt may have paid for. From here on, only the chain decides. */
function* resume(purchase: Purchase): Script<PurchaseProgress> {
  const held = yield* markUncertain(purchase)
  const status = yield* askChain(held, 'none')
  if (status.kind !== 'unspent' || !isUncertain(held)) return yield* applyChainStatus(held, status)
  const settling = yield* ask({ do: 'settle', purchase: held })
  return yield* applyChainStatus(held, yield* askChainAfter(settling, held), settling)
}

/** Acts on the chain status. A facilitator's success counts only if the chain is silent. */
function* applyChainStatus(purchase: Purchase, status: ChainStatus, settling?: SettleResult): Script<PurchaseProgress> {
  if (status.kind === 'paid') return yield* finalize(purchase, status.tx, true)
  if (status.kind === 'void') return yield* releaseVoid(purchase, status)
  if (status.kind === 'silent' && settling?.kind === 'success') return yield* finalize(purchase, settling.tx, false)
  return { purchase: yield* markUncertain(purchase), status, refusal: settlementUnknown(purchase) }
}

/** Checks whether a released payment has settled after all. If so, its payer gets a block or a credit. */
function* checkReleased(purchase: Purchase): Script<PurchaseProgress> {
  const status = yield* askChain(purchase, 'none')
  if (status.kind === 'paid') {
    const given = yield* ask({ do: 'fulfil-late-payment', purchase, tx: status.tx })
    return { purchase: given, status, refusal: chargeUnknown() }
  }
  if (status.kind === 'void') return yield* releaseVoid(purchase, status)
  return { purchase, status, refusal: chargeUnknown() }
}

/** The outcome for the payer that sent the request. */
function toOutcome({ purchase, refusal }: PurchaseProgress, order: BuyOrder): Outcome {
  if (purchase.state.kind === 'credited') return creditOutcome(purchase, purchase.state, order)
  if (!isSold(purchase)) return withChargeStatus(refusal, hideUnprovenRelease(order.payment, purchase))
  return coversTarget(purchase, order.target)
    ? { kind: 'bought', purchase }
    : withChargeStatus(paymentUsed(purchase), purchase)
}

const creditOutcome = (purchase: Purchase, credit: Credited, { contact }: BuyOrder): Outcome =>
  withChargeStatus(paymentCredited(purchase.payment.amount, credit, contact), purchase)

/**
 * Refuses a payment that a facilitator has received, for a reason that does not prove it invalid. It may still settle,
 * so it is stored and watched like a released one.
 */
function* watchRefused(payment: Purchase | UnclaimedPayment, refusal: Failure | undefined): Script<PurchaseProgress> {
  const released = 'state' in payment ? payment : yield* ask({ do: 'record-unclaimed', purchase: payment })
  const watched = yield* checkReleased(released)
  return watched.status?.kind === 'unspent' && refusal !== undefined ? { ...watched, refusal } : watched
}

/** Refuses a payment that a facilitator calls invalid, unless the facilitator itself is at fault. */
function* refuseInvalid(
  order: BuyOrder,
  refusedPayment: Purchase | UnclaimedPayment,
  reason: string,
  refuse: Refuse,
): Script<Outcome> {
  const { payment } = order
  const refusal = isSignatureReason(reason)
    ? refuseSignature(yield* ask({ do: 'check-for-token', payment }), reason)
    : paymentRequired(reason)
  if (refusal.code !== 'payment_required') return refuse(refusal)
  return toOutcome(yield* watchRefused(refusedPayment, reportsNonceUsed(reason) ? undefined : refusal), order)
}

type Refuse = (reason: Failure) => Outcome

/** Resolves the prior purchase of the payer. Returns `undefined` if the new payment may then be used. */
function* resolvePrior(prior: Purchase, order: BuyOrder, refuse: Refuse): Script<Outcome | undefined> {
  const { target: asked, payment } = order
  const isNamed = payment.identifier !== undefined && payment.identifier === prior.payment.identifier
  if (isNamed && !coversTarget(prior, asked)) return refuse(identifierUsed(prior))
  const end = isSold(prior) ? prior : yield* ask({ do: 'resolve-other', key: prior.payment })
  if (end?.state.kind === 'reserved') return refuse(earlierUnresolved())
  return end === undefined || !isSold(end) ? undefined : yield* reuseReceipt(end, order, refuse)
}

/** Answers with the receipt of an earlier purchase. The new payment is not used. */
function* reuseReceipt(end: SoldPurchase, { target: asked, payment }: BuyOrder, refuse: Refuse): Script<Outcome> {
  // If this is not allowed, another request of the payer is returning this receipt. The payer may be owed a second
  // receipt, so it is asked to retry.
  const isReceipt = coversTarget(end, asked)
  if (!(yield* ask({ do: 'hand-over', purchase: end, isReceipt }))) return refuse(earlierUnresolved())
  // A late payment may have bought another block than the one requested. Its payer must know that before it pays again.
  if (!isReceipt) return refuse(wasReceiptReusedFor(end, payment) ? paymentUsed(end) : earlierBoughtOther(end))
  return { kind: 'bought', purchase: end, isEarlier: true }
}

/**
 * Confirms the payment of a sale or a credit on the chain, because a facilitator's answer can be false and a reorganisation can
 * undo a transfer. If the transfer of a sale is gone, the buyer keeps the block, and the authorization is settled again while it
 * is valid. A credit is written off once its payment can never settle.
 */
function* checkConfirmation(purchase: Purchase): Script<void> {
  const status = yield* checkAndResettle(purchase)
  if (status.kind === 'silent') return
  if (status.kind === 'paid' && status.final === true) return yield* ask({ do: 'mark-final', purchase, tx: status.tx })
  if (status.kind === 'void' && status.final === true) return yield* ask({ do: 'write-off', purchase })
  if (!isSold(purchase)) return
  if (status.kind === 'paid') return yield* ask({ do: 'confirm', purchase, tx: status.tx })
  if (purchase.state.settled) yield* ask({ do: 'mark-missing', purchase })
}

function* checkAndResettle(purchase: Purchase): Script<ChainStatus> {
  // The known transaction is most likely still valid, so it is checked first.
  const status = yield* askChain(purchase, 'none', 'tx' in purchase.state ? purchase.state.tx : undefined)
  if (status.kind !== 'unspent' || !isSold(purchase)) return status
  return yield* askChainAfter(yield* ask({ do: 'settle', purchase }), purchase)
}

function* finalize(purchase: Purchase, tx: Hash, settled: boolean): Script<PurchaseProgress> {
  try {
    const sold = yield* ask({ do: 'finalize', purchase, tx, settled })
    return { purchase: sold, refusal: settlementUnknown(sold) }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    return { purchase: yield* markUncertain(purchase), refusal: notPersisted(purchase) }
  }
}

/**
 * Releases the block of a payment that cannot pay this wall. Unless the chain's status is final, the payment is still
 * watched.
 */
function* releaseVoid(purchase: Purchase, status: Extract<ChainStatus, { kind: 'void' }>): Script<PurchaseProgress> {
  const released = yield* release(purchase, status.final === true)
  return { purchase: released, status, refusal: paymentRequired(status.why) }
}

function* release(purchase: Purchase, isFinal: boolean): Script<Purchase> {
  yield* ask({ do: 'release', purchase, isFinal })
  return { ...purchase, state: { kind: 'released', isFinal } }
}

/** Records that the payer of a held block is asked to wait. From then on, no refusal releases the block. */
function* markUncertain(purchase: Purchase): Script<Purchase> {
  if (purchase.state.kind !== 'reserved' || purchase.state.uncertain) return purchase
  try {
    return yield* ask({ do: 'mark-uncertain', purchase })
  } catch (error) {
    // Even without this mark, the block stays held and the purchase unanswered.
    if (!(error instanceof StoreUnavailable)) throw error
    return purchase
  }
}

const isUncertain = ({ state }: Purchase) => state.kind === 'reserved' && state.uncertain

const askChain = ({ payment, head }: Purchase, wait: ChainWait, named?: Hash): Script<ChainStatus> =>
  ask({ do: 'ask-chain', payment, head, wait, named })

/** Queries the chain after a settlement, starting with the transaction that the facilitator named. */
const askChainAfter = (settling: SettleResult, purchase: Purchase): Script<ChainStatus> =>
  askChain(purchase, 'settling', findNamedTransaction(settling))

function* ask<R extends ScriptRequest>(request: R): Script<AnswerTo<R['do']>> {
  return (yield request) as AnswerTo<R['do']>
}
