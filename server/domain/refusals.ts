/** How a purchase is refused, in words that tell the payer whether money may have moved and what to do next. */

import { coordOf, type BlockIndex } from '../../shared/wall.ts'
import { failure, type Failure } from './failure.ts'
import type { Hash, Space, Target } from './payment.ts'

/** Seconds a payer in doubt is asked to wait before the same request again. */
export const RETRY_AFTER_SECONDS = 2

/** What should name a block names none. */
export const invalidCoordinate = (): Failure =>
  failure('invalid_coordinate', 'A block is named col,row: col from 0 to 159, row from 0 to 89, such as 80,45.')

/** Too much of one kind of work is under way. */
export const busy = (): Failure =>
  failure('server_busy', 'Too many pictures are being made at the moment. Send the same request again shortly.', {
    retryAfter: RETRY_AFTER_SECONDS,
  })

/** Too many payments are being checked or settled: nobody was asked about this one. */
export const paymentsBusy = (): Failure =>
  failure(
    'server_busy',
    'Too many payments are being checked at the moment. Nothing was charged and nothing claimed; send the same signed request again.',
    { retryAfter: RETRY_AFTER_SECONDS },
  )

/** More is asked than can be answered in a bearable time; nothing was done. */
export const overloaded = (): Failure =>
  failure(
    'server_busy',
    'More is asked of this service than it can answer at the moment. Nothing was done; send the same request again shortly.',
    { retryAfter: RETRY_AFTER_SECONDS },
  )

/** More of what costs than one client is answered; nothing was done. */
export const tooManyRequests = (waitMs: number): Failure =>
  failure(
    'too_many_requests',
    'You have asked for more of this than one client is answered. Nothing was done; wait Retry-After seconds and send the same request again.',
    { retryAfter: Math.ceil(waitMs / 1000) },
  )

/** Nobody is asked for money that could never arrive. */
export const cannotSell = (): Failure =>
  failure('facilitator_unavailable', 'Payments cannot be taken at the moment. Nothing was claimed; see /api/health.')

/** Nothing moved and nothing can: the payer may sign anew. */
export const paymentRequired = (reason: string): Failure =>
  failure('payment_required', `Not charged: ${reason}. Sign the terms given here and send the same request again.`, {
    reason,
  })

/** Nothing was claimed, because somebody who must be asked cannot be. */
export const facilitatorUnavailable = (what: string): Failure =>
  failure('facilitator_unavailable', `${what}. Nothing was claimed; send the same signed request again shortly.`)

/** The payment may have moved, or may yet; the block waits for its payer. */
export const settlementUnknown = (block: BlockIndex): Failure =>
  failure(
    'settlement_unknown',
    'The payment may have gone through. Do not pay again: the block is held for you; send the same signed request again.',
    { block: coordOf(block), retryAfter: RETRY_AFTER_SECONDS },
  )

/** Another process is at the payment, and has been for long. */
export const stillAtIt = (): Failure =>
  failure(
    'settlement_unknown',
    'This payment is being worked on already. Do not pay again: send the same signed request again.',
    { retryAfter: RETRY_AFTER_SECONDS },
  )

/** Another payment of the same payer for the same target has to end first. */
export const earlierUnknown = (): Failure =>
  failure(
    'settlement_unknown',
    'An earlier payment of yours for this is unresolved. Do not pay again: send the same request again.',
    { retryAfter: RETRY_AFTER_SECONDS },
  )

/** Another payment of the same payer for the same target landed late, when its block was gone, and got another one. */
export const earlierElsewhere = (block: BlockIndex): Failure =>
  failure(
    'payment_used',
    `An earlier payment of yours arrived late and bought block ${coordOf(block)}. Nothing more was charged; send the same request again to buy this one too.`,
    { block: coordOf(block) },
  )

/** Paid for, but not yet written down. */
export const notPersisted = (block: BlockIndex): Failure =>
  failure(
    'deed_not_persisted',
    'Paid, but the deed could not be written yet. Do not pay again: send the same signed request again.',
    { block: coordOf(block), retryAfter: RETRY_AFTER_SECONDS },
  )

/** The payment is bound to another block. */
export const paymentUsed = (block: BlockIndex): Failure =>
  failure('payment_used', `This payment belongs to block ${coordOf(block)}. Sign a new one to buy another block.`, {
    block: coordOf(block),
  })

/** The payment landed when no block was left for it. */
export const paymentCredited = (amount: bigint, tx: Hash, contact: string | null): Failure =>
  failure(
    'payment_credited',
    'The payment arrived when no block was left for it. The operator owes it back; do not pay again.',
    { amount: amount.toString(), tx, contact },
  )

/** The store failed before anything was sent anywhere. */
export const storeUnavailable = (): Failure =>
  failure(
    'database_unavailable',
    'The store cannot be used at the moment. Do not sign anew: send the same signed request again.',
    { retryAfter: RETRY_AFTER_SECONDS },
  )

const TOO_MANY = 'Too many of your purchases are open. Nothing was charged; finish those first.'

/** Why a target cannot be bought now. Nothing was charged. */
export function unavailability(target: Target, space: Exclude<Space, 'open'>): Failure {
  if (target === 'next') {
    if (space === 'claimed') return failure('sold_out', 'Every block is sold. Owners repaint theirs for free.')
    if (space === 'full') return failure('wall_busy', TOO_MANY)
    return failure('wall_busy', 'Every block left is being bought. Nothing was charged; try again in a minute.')
  }
  const block = coordOf(target)
  if (space === 'claimed') return failure('block_taken', `Block ${block} is sold. Nothing was charged.`, { block })
  if (space === 'full') return failure('purchase_pending', TOO_MANY, { block })
  return failure(
    'purchase_pending',
    `Block ${block} is being bought. Nothing was charged; try again or take another.`,
    { block },
  )
}
