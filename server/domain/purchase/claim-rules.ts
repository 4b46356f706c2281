/** What a payer may hold, and which of a payer's purchases goes before a new one. */

import type { BlockIndex } from '../../../shared/wall.ts'
import { StaleWriteError, type Failure } from '../failure.ts'
import { nearestArea, WHOLLY_OPEN } from '../wall/open-space.ts'
import { isRenewal, type Hash, type Payment, type PaymentKey, type UnixMs } from './payment.ts'
import { isSold, type Purchase, type SoldPurchase } from './purchase.ts'
import { boughtBefore, earlierUnknown, paymentUsed } from './refusals.ts'
import { blocksIn, ownTarget, placeOf, targetOf, type Holding, type Target } from './target.ts'

/** How many unresolved purchases one payer can have: one dollar could otherwise hold the whole wall. */
export const HOLDS_MAX = 16

/** How many blocks one payer's unresolved purchases can hold between them. */
export const HELD_BLOCKS_MAX = 400

/** How long a receipt that could not be given waits for its payer's next request. */
export const RECEIPT_KEPT_MS = 10 * 60_000

/** Whether a payer that holds the targets of these purchases would hold too much with another one. */
export function holdsTooMuch(purchases: readonly Purchase[], target: Target): boolean {
  const held = purchases.filter(({ state }) => state.kind === 'reserved').map((purchase) => blocksIn(purchase.target))
  return held.length >= HOLDS_MAX || held.reduce((sum, blocks) => sum + blocks, blocksIn(target)) > HELD_BLOCKS_MAX
}

/** A payment that asks for a target; `attended` are the nonces of the payer's runs that a client waits for. */
export type Asking = {
  readonly target: Target
  readonly payment: Payment
  readonly now: UnixMs
  readonly attended: readonly Hash[]
}

/**
 * Of a payer's purchases the one that goes before a new payment: the one whose receipt was this payment's answer already, else
 * one that is unanswered, and for the same target, or by the same name. A receipt can be handed over at once, so it goes before
 * a purchase that still has to end; of several the first one goes.
 */
export function unansweredFirst(purchases: readonly Purchase[], asking: Asking): Purchase | undefined {
  const unanswered = purchases.filter((purchase) => goesBefore(purchase, asking))
  return (
    purchases.find((purchase) => wasHandedTo(purchase, asking.payment)) ??
    unanswered.find(({ state }) => state.kind === 'sold') ??
    unanswered[0]
  )
}

/** Whether the receipt of a purchase was the answer to a later payment. */
export const wasHandedTo = (purchase: Purchase, { payer, nonce }: PaymentKey): purchase is SoldPurchase =>
  isSold(purchase) && purchase.payment.payer === payer && purchase.state.handedTo === nonce

/** Whether a payment may be answered for a target: the one it was first sent for, or the block it holds or bought. */
export function answersOn(purchase: Purchase, asked: Target): boolean {
  const { target, state } = purchase
  if (asked === ownTarget(purchase)) return asked === target || state.kind !== 'released'
  return asked === target && (placeOf(target).at === 'next' || state.kind !== 'sold')
}

/** What a payment that cannot buy is told beside an earlier one: what that one bought, or to wait for its end. */
export function besidePrior(prior: Purchase, payment: PaymentKey): Failure {
  if (wasHandedTo(prior, payment)) return paymentUsed(prior)
  return isSold(prior) ? boughtBefore(prior) : earlierUnknown()
}

function goesBefore(purchase: Purchase, { target, payment, now, attended }: Asking): boolean {
  const { state, payment: earlier } = purchase
  if (earlier.nonce === payment.nonce || (state.kind !== 'reserved' && state.kind !== 'sold')) return false
  if (payment.identifier !== undefined && earlier.identifier === payment.identifier) return true
  // Who asks for a block again means its purchase, whatever it was asked for by.
  const isItsOwn = state.kind === 'sold' && ownTarget(purchase) === target
  if (purchase.target !== target && !isItsOwn) return false
  const isAttended = attended.includes(earlier.nonce)
  if (state.kind === 'reserved') return state.uncertain || !isAttended
  return state.unanswered && !isAttended && (isItsOwn || state.claimedAt > now - RECEIPT_KEPT_MS)
}

/**
 * Whether a payment was held, taken up or signed for another time since a run knew it as `before`: no refusal of that run's is
 * final any more.
 */
export function isStale({ payment, state }: Purchase, before: Purchase): boolean {
  if (payment.validBefore !== before.payment.validBefore) return true
  if (state.kind !== 'reserved') return false
  if (before.state.kind !== 'reserved' || before.state.attempt !== state.attempt) return true
  return state.uncertain && !before.state.uncertain
}

/**
 * What is kept of a payment whose nonce was signed for twice: the one verified last, unless the one before outlives it, since
 * what may still land is watched to its end. The purchase keeps the name that its client first gave it. Throws
 * `StaleWriteError` for one that moves other money.
 */
export function renewed(before: Payment, payment: Payment): Payment {
  if (!isRenewal(payment, before)) throw new StaleWriteError('the nonce is known for other money')
  if (payment.validBefore < before.validBefore) return before
  const { to, amount, validAfter, validBefore, signature, accepted } = payment
  return { ...before, to, amount, validAfter, validBefore, signature, accepted }
}

/** Where a late payment is given what it was for, in this order, if that is open: its own place, else the nearest. Else it is a credit. */
export const lateTargets = (purchase: Holding): readonly [own: Target, nearest: Target] => [
  ownTarget(purchase),
  targetOf('next', placeOf(purchase.target)),
]

/** Where a target would begin on an empty wall. */
export function firstPlace(target: Target): BlockIndex {
  const { at, ...size } = placeOf(target)
  const first = at === 'next' ? nearestArea(WHOLLY_OPEN, size) : at
  if (typeof first === 'string') throw new Error('a size that no wall has room for')
  return first
}
