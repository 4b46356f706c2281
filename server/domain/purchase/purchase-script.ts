/**
 * A purchase from start to finish, as a pure script: a generator that yields one request at a time and resumes with the
 * answer. A retry, a restart and the reconciler run the same steps again from the state in the ledger.
 *
 * Two rules hold for every path:
 *
 * - While a payer's money may have moved, the payer is never asked to pay again.
 * - A block is released only on proof: from the chain, or from a refusal before broadcast that the chain confirms. Time
 *   alone never releases a block.
 */

import { isFailure, type Failure } from '../failure.ts'
import { addChargeStatus } from './charging.ts'
import { coversTarget, paysWall, createPriorRefusal, wasReceiptReusedFor } from './claim-rules.ts'
import { isSignatureReason, reportsNonceUsed, refuseSignature } from './facilitator-errors.ts'
import { omitPicture, addPictureOf, type Draft, type Listing } from './listing.ts'
import { isSamePayment, type Payment, type PaymentKey, findRejectionReason } from './payment.ts'
import {
  type AvailabilityCheck,
  type Credited,
  isPaymentOf,
  isEnded,
  isSold,
  type BuyOrder,
  type Outcome,
  type Purchase,
  hideUnprovenRelease,
  type Script,
  type SoldPurchase,
  type UnclaimedPayment,
} from './purchase.ts'
import {
  createChainUnavailableFailure,
  createUncheckedSignatureFailure,
  createChargeUnknownFailure,
  createBoughtOtherFailure,
  createEarlierUnresolvedFailure,
  createFacilitatorUnreachableFailure,
  createIdentifierUsedFailure,
  createLostClaimFailure,
  createOrderMismatchFailure,
  createPayerDeniedFailure,
  createRailNotArmedFailure,
  createPaymentCreditedFailure,
  createPaymentRequiredFailure,
  createPaymentsBusyFailure,
  createPaymentUnmatchedFailure,
  createOtherPurchaseFailure,
  createAlreadyProcessingFailure,
  createUnavailableFailure,
} from './refusals.ts'
import {
  requestStep,
  checkConfirmation,
  checkReleased,
  markUncertain,
  type PurchaseProgress,
  resume,
  settleFirst,
} from './settlement-script.ts'

/** Buys a block or an area. If the payment is already known, returns its outcome instead. */
export function* buy(order: BuyOrder): Script<Outcome> {
  const known = yield* requestStep({ do: 'look-up', key: order.payment })
  return known === undefined ? yield* buyFresh(order) : yield* answerKnown(known, order)
}

/**
 * Answers a payer whose payment another process has been working on for a long time. If the purchase has ended, the
 * payer gets its outcome. If it is held, it is marked as uncertain and the payer is asked to wait.
 */
export function* answerHeldElsewhere(order: BuyOrder): Script<Outcome> {
  const known = yield* requestStep({ do: 'look-up', key: order.payment })
  if (known !== undefined && isEnded(known)) return yield* answerKnown(known, order)
  if (known?.state.kind === 'reserved') yield* markUncertain(known)
  return addChargeStatus(createAlreadyProcessingFailure(), undefined)
}

/**
 * Answers a payment that the ledger knows, but only if its own payer signed it. Anybody can copy the payer and nonce of
 * a settled payment from the chain, so the signature is checked.
 */
function* answerKnown(known: Purchase, order: BuyOrder): Script<Outcome> {
  const { payment, target } = order
  const checked = isSamePayment(known.payment, payment)
    ? 'signed'
    : yield* requestStep({ do: 'check-signature', payment })
  if (checked === 'not-signed') return yield* refuseUnsigned(order)
  if (checked !== 'signed') return createUncheckedSignatureFailure()
  // A credited payment bought nothing, whatever was requested. After a restore, the wall may know only the payment, not
  // the purchase.
  if (known.state.kind === 'credited') return toCreditOutcome(known, known.state, order)
  if (!isPaymentOf(known, payment) || !coversTarget(known, target))
    return addChargeStatus(createOtherPurchaseFailure(known), hideUnprovenRelease(payment, known))
  if (isSold(known)) return { kind: 'bought', purchase: known }
  if (known.state.kind === 'reserved') return toOutcome(yield* resume(known), order)
  return yield* retryReleased(known, order)
}

/**
 * Refuses a payment that its payer did not sign. The sender learns the state of the target, but nothing about any
 * purchase.
 */
function* refuseUnsigned(
  { target, payment, now }: BuyOrder,
  reason = 'the payment is not signed by its payer',
): Script<Outcome> {
  const { space } = yield* requestStep({ do: 'check-availability', target, payment, now })
  if (space !== 'open' && space !== 'full') return createUnavailableFailure(target, space)
  return createPaymentRequiredFailure(reason)
}

/**
 * Advances a purchase that no request is waiting for. Settles or releases a held purchase, gives a late payment a block
 * or a credit, and confirms the payment of a sale or a credit on the chain. For a sale or a credit, the function
 * returns the purchase as it was before the check.
 */
export function* reconcile(key: PaymentKey): Script<Purchase | undefined> {
  const purchase = yield* requestStep({ do: 'look-up', key })
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
  // A mismatch is refused before anything leaves this process. Known payments follow their own rules, so that a resend
  // with an altered order cannot make the payer believe that nothing was charged.
  if (payment.binding === 'mismatch' && released === undefined && !isFailure(listing))
    return createOrderMismatchFailure()
  const rejection = findRejectionReason(payment, terms, now)
  const checked = yield* requestStep({ do: 'check-signature', payment })
  if (checked === 'not-signed') return yield* refuseUnsigned(order, rejection)
  if (checked !== 'signed') return checked === 'busy' ? createPaymentsBusyFailure() : createChainUnavailableFailure()
  if (order.isDenied && released === undefined) return createPayerDeniedFailure()
  const refuse = (reason: Failure) => addChargeStatus(reason, released)

  const available = yield* requestStep({ do: 'check-availability', target, payment, now })
  const { prior } = available
  // A payment that was answered with an earlier receipt gets the same receipt again, whatever has happened since.
  if (prior !== undefined && wasReceiptReusedFor(prior, payment) && coversTarget(prior, target))
    return yield* reuseReceipt(prior, order, refuse)
  // A payer gets the receipt of an earlier purchase even while no new payments are accepted.
  if (!order.armed && prior === undefined) return refuse(createRailNotArmedFailure())
  const refusal = findEligibilityRefusal(order, rejection, available)
  if (refusal !== undefined && (released !== undefined || !paysWall(order))) return refuse(refusal)

  // The height is read before the facilitator is called. A transfer after this height was meant for this purchase; an
  // earlier one is a replay, because settled payments are public.
  const chain = yield* requestStep({ do: 'read-chain', key: payment, isRefused: refusal !== undefined })
  if (chain === 'silent' && prior !== undefined) return refuse(createEarlierUnresolvedFailure())
  if (chain === 'silent')
    return refuse(
      refusal === undefined && released === undefined ? createChainUnavailableFailure() : createChargeUnknownFailure(),
    )
  if (chain.spent && released !== undefined) return yield* endReleased(yield* checkReleased(released), order)
  if (chain.spent) return yield* refuseSpent(order, prior)
  if (refusal !== undefined) return refuse(refusal)
  if (isFailure(listing)) return refuse(listing)

  // The payer itself signed this payment, and it is unspent. Nobody else can get this far, so it is safe to reveal the
  // prior purchase.
  const answer = prior === undefined ? undefined : yield* resolvePrior(prior, order, refuse)
  if (answer !== undefined) return answer
  if (!order.armed) return refuse(createRailNotArmedFailure())

  // A facilitator that has a payment could broadcast it, so even a payment that the facilitator refuses is stored. Its
  // listing is stored without the picture.
  const sent = released ?? { payment, target, listing: { ...omitPicture(listing), pixels: null }, head: chain.head }
  const verification = yield* requestStep({ do: 'verify', target, payment })
  if (verification.kind === 'busy') return refuse(createPaymentsBusyFailure())
  if (verification.kind === 'unavailable') return refuse(createFacilitatorUnreachableFailure())
  if (verification.kind === 'invalid') {
    // There may be more than one prior purchase, and another one may be why the facilitator refuses this payment.
    const others =
      prior === undefined ? undefined : yield* requestStep({ do: 'check-availability', target, payment, now })
    if (others?.prior !== undefined) return refuse(createEarlierUnresolvedFailure())
    return yield* refuseInvalid(order, sent, verification.reason, refuse)
  }
  const painted = yield* convertPicture(payment, listing)
  if (isFailure(painted)) return refuse(painted)
  const claiming = yield* requestStep({ do: 'claim', target, payment, listing: painted, head: chain.head })
  if (claiming.kind === 'abandoned') return refuse(createAlreadyProcessingFailure())
  if (claiming.kind === 'prior') return refuse(createEarlierUnresolvedFailure())
  if (claiming.kind === 'lost')
    return toOutcome(yield* watchRefused(sent, createLostClaimFailure(order, claiming.space)), order)
  return toOutcome(yield* settleFirst(claiming.purchase), order)
}

/**
 * Why a payment cannot buy its target; `undefined` if it can, or if a prior purchase must be resolved before this is
 * known. This is checked before any facilitator is called.
 */
function findEligibilityRefusal(
  order: BuyOrder,
  rejection: string | undefined,
  { space, prior }: AvailabilityCheck,
): Failure | undefined {
  if (prior !== undefined) return rejection === undefined ? undefined : createPriorRefusal(prior, order.payment)
  if (space !== 'open') return createUnavailableFailure(order.target, space)
  return rejection === undefined ? undefined : createPaymentRequiredFailure(rejection)
}

/**
 * Refuses a payment that was spent before the wall received it. The payment buys nothing; if it paid the wall, its
 * payer gets the operator's contact.
 */
function* refuseSpent(order: BuyOrder, prior: Purchase | undefined): Script<Outcome> {
  const { payment, contact } = order
  const status = yield* requestStep({ do: 'ask-chain', payment, head: 0n, wait: 'none' })
  if (status.kind === 'paid') return createPaymentUnmatchedFailure(payment.amount, status.tx, contact)
  if (status.kind !== 'void') return createChargeUnknownFailure()
  const used = createPaymentRequiredFailure('the authorization was already used or cancelled; sign a new one')
  return addChargeStatus(prior === undefined ? used : createPriorRefusal(prior, payment), undefined)
}

/**
 * Converts the picture of a draft. This happens after verification, because it is costly, and before a block is held,
 * because it may fail.
 */
function* convertPicture(payment: Payment, draft: Draft): Script<Listing | Failure> {
  if (draft.picture === undefined) return omitPicture(draft)
  const pixels = yield* requestStep({ do: 'paint', payment, picture: draft.picture })
  return isFailure(pixels) ? pixels : { ...omitPicture(draft), pixels }
}

/**
 * Answers a released payment that was sent again. It may have settled since its release, or may still be used for
 * another attempt.
 */
function* retryReleased(purchase: Purchase, order: BuyOrder): Script<Outcome> {
  const watched = yield* checkReleased(purchase)
  if (watched.status?.kind !== 'unspent') return yield* endReleased(watched, order)
  const listing = addPictureOf(purchase.listing, order)
  return yield* buyFresh({ ...order, target: purchase.target, listing }, purchase)
}

/** The outcome for the payer of a `released` payment that will not be retried. */
function* endReleased(watched: PurchaseProgress, order: BuyOrder): Script<Outcome> {
  if (watched.status?.kind === 'void' && watched.status.final !== true) {
    // No payer is asked for a new payment while another of their payments is unfinished. Another process may meanwhile
    // have claimed a block for such a payment.
    const { prior } = yield* requestStep({ do: 'check-availability', ...order })
    if (prior !== undefined) return addChargeStatus(createPriorRefusal(prior, order.payment), watched.purchase)
  }
  return toOutcome(watched, order)
}

/** The outcome for the payer that sent the request. */
function toOutcome({ purchase, refusal }: PurchaseProgress, order: BuyOrder): Outcome {
  if (purchase.state.kind === 'credited') return toCreditOutcome(purchase, purchase.state, order)
  if (!isSold(purchase)) return addChargeStatus(refusal, hideUnprovenRelease(order.payment, purchase))
  return coversTarget(purchase, order.target)
    ? { kind: 'bought', purchase }
    : addChargeStatus(createOtherPurchaseFailure(purchase), purchase)
}

const toCreditOutcome = (purchase: Purchase, credit: Credited, { contact }: BuyOrder): Outcome =>
  addChargeStatus(createPaymentCreditedFailure(purchase.payment.amount, credit, contact), purchase)

/**
 * Refuses a payment that a facilitator has received, for a reason that does not prove the payment invalid. The payment
 * may still settle, so it is stored and watched like a released one.
 */
function* watchRefused(payment: Purchase | UnclaimedPayment, refusal: Failure | undefined): Script<PurchaseProgress> {
  const released = 'state' in payment ? payment : yield* requestStep({ do: 'record-unclaimed', purchase: payment })
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
    ? refuseSignature(yield* requestStep({ do: 'check-for-token', payment }), reason)
    : createPaymentRequiredFailure(reason)
  if (refusal.code !== 'payment_required') return refuse(refusal)
  return toOutcome(yield* watchRefused(refusedPayment, reportsNonceUsed(reason) ? undefined : refusal), order)
}

type Refuse = (reason: Failure) => Outcome

/** Resolves the prior purchase of the payer. Returns `undefined` if the new payment may then be used. */
function* resolvePrior(prior: Purchase, order: BuyOrder, refuse: Refuse): Script<Outcome | undefined> {
  const { target: asked, payment } = order
  const isNamed = payment.identifier !== undefined && payment.identifier === prior.payment.identifier
  if (isNamed && !coversTarget(prior, asked)) return refuse(createIdentifierUsedFailure(prior))
  const end = isSold(prior) ? prior : yield* requestStep({ do: 'resolve-other', key: prior.payment })
  if (end?.state.kind === 'reserved') return refuse(createEarlierUnresolvedFailure())
  return end === undefined || !isSold(end) ? undefined : yield* reuseReceipt(end, order, refuse)
}

/** Answers with the receipt of an earlier purchase. The new payment is not used. */
function* reuseReceipt(end: SoldPurchase, { target: asked, payment }: BuyOrder, refuse: Refuse): Script<Outcome> {
  // If the hand-over is not allowed, another request of the payer is returning this receipt. The payer may be owed a
  // second receipt, so it is asked to retry.
  const isReceipt = coversTarget(end, asked)
  if (!(yield* requestStep({ do: 'hand-over', purchase: end, isReceipt })))
    return refuse(createEarlierUnresolvedFailure())
  // A late payment may have bought a different block from the one requested. The payer must know this before it pays
  // again.
  if (!isReceipt)
    return refuse(wasReceiptReusedFor(end, payment) ? createOtherPurchaseFailure(end) : createBoughtOtherFailure(end))
  return { kind: 'bought', purchase: end, isEarlier: true }
}
