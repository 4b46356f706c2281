/** How much a payer may hold, and which earlier purchase of a payer must be resolved before a new one. */

import type { BlockIndex } from '../../../shared/wall.ts'
import { StaleWriteError, type Failure } from '../failure.ts'
import { findNearestArea, computeOccupancy } from '../wall/open-space.ts'
import { movesSameMoney, type Hash, type Payment, type PaymentKey, type UnixMs } from './payment.ts'
import { isSold, type BuyOrder, type Purchase, type SoldPurchase } from './purchase.ts'
import { createAlreadyBoughtFailure, createEarlierUnresolvedFailure, createOtherPurchaseFailure } from './refusals.ts'
import { countBlocks, resolveTarget, getPosition, createTarget, type Holding, type Target } from './target.ts'

/**
 * The maximum number of unresolved purchases per payer. Without this limit, a wallet with one dollar could hold the
 * whole wall.
 */
export const HOLDS_MAX = 16

/** The most blocks that all unresolved purchases of one payer can hold together. */
export const HELD_BLOCKS_MAX = 400

/** How long a receipt that did not reach its payer is kept for the payer's next request. */
export const RECEIPT_KEPT_MS = 10 * 60_000

/** Whether a payer with these purchases would exceed its limits by also holding `target`. */
export function exceedsHoldLimits(purchases: readonly Purchase[], target: Target): boolean {
  const held = purchases
    .filter(({ state }) => state.kind === 'reserved')
    .map((purchase) => countBlocks(purchase.target))
  return held.length >= HOLDS_MAX || held.reduce((sum, blocks) => sum + blocks, countBlocks(target)) > HELD_BLOCKS_MAX
}

/**
 * A new payment for a target. `activeNonces` are the nonces of the payer's payments that runs are processing while
 * their clients wait.
 */
export type ClaimRequest = {
  readonly target: Target
  readonly payment: Payment
  readonly now: UnixMs
  readonly activeNonces: readonly Hash[]
}

/**
 * The earlier purchase to resolve before a new payment is used, if any. In order of precedence:
 *
 * 1. the purchase whose receipt already answered this payment;
 * 2. the first sold one for which `mustResolveFirst` is true, because its receipt can be returned at once;
 * 3. the first held one for which `mustResolveFirst` is true.
 */
export function findPurchaseToResolveFirst(
  purchases: readonly Purchase[],
  request: ClaimRequest,
): Purchase | undefined {
  const unresolved = purchases.filter((purchase) => mustResolveFirst(purchase, request))
  return (
    purchases.find((purchase) => wasReceiptReusedFor(purchase, request.payment)) ??
    unresolved.find(({ state }) => state.kind === 'sold') ??
    unresolved[0]
  )
}

/** Whether this later payment was answered with the receipt of the purchase. */
export const wasReceiptReusedFor = (purchase: Purchase, { payer, nonce }: PaymentKey): purchase is SoldPurchase =>
  isSold(purchase) && purchase.payment.payer === payer && purchase.state.receiptReusedFor === nonce

/**
 * Whether a purchase may answer a request for the target `asked`. `asked` must be the purchase's own target, or the
 * block or area that the purchase holds or bought. Once sold, a purchase for a given position covers only what it
 * bought.
 */
export function coversTarget(purchase: Purchase, asked: Target): boolean {
  const { target, state } = purchase
  if (asked === resolveTarget(purchase)) return asked === target || state.kind !== 'released'
  return asked === target && (getPosition(target).at === 'next' || state.kind !== 'sold')
}

/** Whether a payment moves the right token to an address of this wall, whatever the amount. */
export const paysWall = ({ payment: { to, accepted }, terms, payees }: BuyOrder): boolean =>
  payees.has(to) && accepted.asset === terms.asset && accepted.network === terms.network

/**
 * The refusal of a payment that cannot buy and whose payer has a prior purchase. It names the block or area that the
 * prior purchase bought, or asks the payer to wait until that purchase is resolved.
 */
export function createPriorRefusal(prior: Purchase, payment: PaymentKey): Failure {
  if (wasReceiptReusedFor(prior, payment)) return createOtherPurchaseFailure(prior)
  return isSold(prior) ? createAlreadyBoughtFailure(prior) : createEarlierUnresolvedFailure()
}

/**
 * Whether a purchase must be resolved before a new payment is used. This is so if both have the same
 * payment-identifier, or if both are for the same target and the payer may not know the outcome of the purchase.
 */
function mustResolveFirst(purchase: Purchase, { target, payment, now, activeNonces }: ClaimRequest): boolean {
  const { state, payment: earlier } = purchase
  if (earlier.nonce === payment.nonce || (state.kind !== 'reserved' && state.kind !== 'sold')) return false
  if (payment.identifier !== undefined && earlier.identifier === payment.identifier) return true
  // If a payer requests a block or area that it owns, the request is about that purchase, even if it was bought as
  // `next`.
  const ownsTarget = state.kind === 'sold' && resolveTarget(purchase) === target
  if (purchase.target !== target && !ownsTarget) return false
  const isActive = activeNonces.includes(earlier.nonce)
  if (state.kind === 'reserved') return state.uncertain || !isActive
  return state.unanswered && !isActive && (ownsTarget || state.claimedAt > now - RECEIPT_KEPT_MS)
}

/**
 * Whether a refusal by a run that read the purchase as `before` is no longer valid. This is so if another run has since
 * held a block for the payment or marked the purchase as uncertain. It is also so if the payer has since signed the
 * payment for another validity period.
 */
export function isStale({ payment, state }: Purchase, before: Purchase): boolean {
  if (payment.validBefore !== before.payment.validBefore) return true
  if (state.kind !== 'reserved') return false
  if (before.state.kind !== 'reserved' || before.state.attempt !== state.attempt) return true
  return state.uncertain && !before.state.uncertain
}

/**
 * Chooses which of two authorizations with the same nonce to keep: the new one, unless the old one is valid for longer.
 * An authorization is watched until it can no longer settle, so the one that is valid for longer must not be lost. The
 * client's first payment-identifier is kept. Throws `StaleWriteError` if the new one moves other money.
 */
export function keepLongerAuthorization(before: Payment, payment: Payment): Payment {
  if (!movesSameMoney(payment, before))
    throw new StaleWriteError('the nonce belongs to a payment with a different payee, amount, asset or network')
  if (payment.validBefore < before.validBefore) return before
  const { to, amount, validAfter, validBefore, signature, accepted } = payment
  return { ...before, to, amount, validAfter, validBefore, signature, accepted }
}

/**
 * The targets at which a late payment may get its blocks: its own, or else the open one of the same size that is
 * nearest the wall's centre. If neither can be bought, the payment becomes a credit.
 */
export const listLateTargets = (purchase: Holding): readonly [own: Target, nearest: Target] => [
  resolveTarget(purchase),
  createTarget('next', getPosition(purchase.target)),
]

const NONE_TAKEN = computeOccupancy(() => false)

/** The first block that a target would have on an empty wall. */
export function findPositionOnEmptyWall(target: Target): BlockIndex {
  const { at, ...size } = getPosition(target)
  if (at !== 'next') return at
  const first = findNearestArea({ taken: NONE_TAKEN, sold: NONE_TAKEN }, size)
  if (first.kind !== 'open') throw new Error('an area of this size does not fit on an empty wall')
  return first.block
}
