/** How a purchase is refused, in words that tell the payer whether money may have moved and what to do next. */

import { AREA_BLOCKS_MAX } from '../../shared/area.ts'
import { coordOf, type BlockIndex } from '../../shared/wall.ts'
import { IF_YOURS, LOOK, REPEAT, SIGN_ANEW, TRY_AGAIN } from './advice.ts'
import { failure, type Failure } from './failure.ts'
import type { Hash, Space, Target } from './payment.ts'

/** Seconds a payer in doubt is asked to wait before the same request again. */
export const RETRY_AFTER_SECONDS = 2

// What can never work is mended by hand.
const UNTIL_MENDED_SECONDS = 60

/** What should name a block names none. */
export const invalidCoordinate = (): Failure =>
  failure('invalid_coordinate', 'A block is named col,row: col from 0 to 159, row from 0 to 89, such as 80,45.')

/** What should name an area names none. */
export const invalidArea = (): Failure =>
  failure(
    'invalid_area',
    `An area is named col,row,WxH: its top left block and its size in blocks, such as 80,45,4x3, without leading zeros, on the wall, of 1 to ${AREA_BLOCKS_MAX} blocks.`,
  )

/** Too much of one kind of work is under way. */
export const busy = (): Failure =>
  failure('server_busy', 'Too many pictures are being made at the moment. Send the same request again shortly.', {
    retryAfter: RETRY_AFTER_SECONDS,
  })

/** Too many payments are being checked or settled: nobody was asked about this one. */
export const paymentsBusy = (): Failure =>
  failure('server_busy', `Too many payments are being checked at the moment. ${TRY_AGAIN}`, {
    retryAfter: RETRY_AFTER_SECONDS,
  })

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
  failure(
    'facilitator_unavailable',
    'Payments cannot be taken at the moment. Nothing was charged and nothing claimed. See /api/health.',
    {
      retryAfter: UNTIL_MENDED_SECONDS,
    },
  )

/** Nothing moved and nothing can: the payer may sign anew. */
export const paymentRequired = (reason: string): Failure =>
  failure('payment_required', `Not charged: ${reason}. ${SIGN_ANEW}`, {
    reason,
  })

/** Nothing was claimed, because somebody who must be asked cannot be. */
export const facilitatorUnavailable = (what: string): Failure =>
  failure('facilitator_unavailable', `${what}. ${TRY_AGAIN}`, {
    retryAfter: RETRY_AFTER_SECONDS,
  })

/** The payment may have moved, or may yet; the block waits for its payer. */
export const settlementUnknown = (block: BlockIndex): Failure =>
  failure('settlement_unknown', `The payment may have gone through, and the block is held for you. ${REPEAT}`, {
    block: coordOf(block),
    retryAfter: RETRY_AFTER_SECONDS,
  })

/** Another process is at the payment, and has been for long. */
export const stillAtIt = (): Failure =>
  failure('settlement_unknown', `This payment is being worked on already. ${REPEAT}`, {
    retryAfter: RETRY_AFTER_SECONDS,
  })

/** Another payment of the same payer for the same target has to end first. */
export const earlierUnknown = (): Failure =>
  failure(
    'settlement_unknown',
    `An earlier payment of yours for this has to end first; this one is not used meanwhile. ${REPEAT}`,
    { retryAfter: RETRY_AFTER_SECONDS },
  )

/** Another payment of the same payer for the same target landed late, when its block was gone, and got another one. */
export const earlierElsewhere = (block: BlockIndex): Failure =>
  failure(
    'payment_used',
    `An earlier payment of yours arrived late and bought block ${coordOf(block)}; this one is not used. Send the same request again to buy this block too.`,
    { block: coordOf(block) },
  )

/** Paid for, but not yet written down. */
export const notPersisted = (block: BlockIndex): Failure =>
  failure('deed_not_persisted', `Paid, but the deed could not be written yet. ${REPEAT}`, {
    block: coordOf(block),
    retryAfter: RETRY_AFTER_SECONDS,
  })

/** The payment is bound to another block. */
export const paymentUsed = (block: BlockIndex): Failure =>
  failure('payment_used', `This payment belongs to block ${coordOf(block)}. Sign a new one to buy another block.`, {
    block: coordOf(block),
  })

/** The client's own name for a purchase stands for another block already. */
export const identifierUsed = (block: BlockIndex): Failure =>
  failure(
    'payment_used',
    `This payment-identifier names your purchase of block ${coordOf(block)}; this payment is not used. Give a new one to buy another block.`,
    { block: coordOf(block) },
  )

/** The payment landed when no block was left for it. */
export const paymentCredited = (amount: bigint, tx: Hash, contact: string | null): Failure =>
  failure(
    'payment_credited',
    `The payment arrived when no block was left for it. The operator owes it back; do not pay again. ${LOOK}`,
    { amount: amount.toString(), tx, contact },
  )

/** The store failed before anything was sent anywhere. */
export const storeUnavailable = (): Failure =>
  failure('database_unavailable', `The store cannot be used at the moment. If you sent a payment: ${REPEAT}`, {
    retryAfter: RETRY_AFTER_SECONDS,
  })

/** The signature on a payment that is known is another than before, and only a contract can tell whether it is its wallet's. */
export const cannotCheckSignature = (): Failure =>
  failure('server_busy', `The signature of this wallet cannot be checked at the moment. ${REPEAT}`, {
    retryAfter: RETRY_AFTER_SECONDS,
  })

const TOO_MANY = 'Too many purchases of this wallet are open. Finish those first; this payment is not used meanwhile.'

/**
 * Why a target cannot be bought now, for whoever asks: with a payment, which is then not used, or without one. It may be the
 * payer of the very purchase that is under way.
 */
export function unavailability(target: Target, space: Exclude<Space, 'open'>): Failure {
  if (target === 'next') {
    if (space === 'claimed') return failure('sold_out', 'Every block is sold. Owners repaint theirs for free.')
    if (space === 'full') return failure('wall_busy', TOO_MANY)
    return failure('wall_busy', `Every block left is being bought. ${IF_YOURS}`, { retryAfter: RETRY_AFTER_SECONDS })
  }
  const block = coordOf(target)
  if (space === 'claimed')
    return failure(
      'block_taken',
      `Block ${block} is sold; nothing is charged for it. GET it without a payment for its deed.`,
      { block },
    )
  if (space === 'full') return failure('purchase_pending', TOO_MANY, { block })
  return failure('purchase_pending', `Block ${block} is being bought. ${IF_YOURS}`, {
    block,
    retryAfter: RETRY_AFTER_SECONDS,
  })
}
