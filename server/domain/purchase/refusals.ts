/** How a purchase is refused, in words that tell the payer whether money may have moved and what to do next. */

import { AREA_BLOCKS_MAX } from '../../../shared/area.ts'
import { IF_YOURS, LOOK, REPEAT, SIGN_ANEW, TRY_AGAIN } from '../advice.ts'
import { failure, type Failure, type FailureCode } from '../failure.ts'
import type { Hash, Space } from './payment.ts'
import { isBlock, kindOf, namedIn, nameOf, placeOf, wordsFor, type Holding, type Target } from './target.ts'

/** Seconds a payer in doubt is asked to wait before the same request again. */
export const RETRY_AFTER_SECONDS = 2

// What can never work is mended by hand.
const UNTIL_MENDED_SECONDS = 60

/** A refusal after which the same request is worth sending again soon. */
export const retryLater = (code: FailureCode, message: string, details?: Failure['details']): Failure =>
  failure(code, message, { ...details, retryAfter: RETRY_AFTER_SECONDS })

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
  retryLater('server_busy', 'Too many pictures are being made at the moment. Send the same request again shortly.')

/** Too many payments are being checked or settled: nobody was asked about this one. */
export const paymentsBusy = (): Failure =>
  retryLater('server_busy', `Too many payments are being checked at the moment. ${TRY_AGAIN}`)

/** More is asked than can be answered in a bearable time; nothing was done. */
export const overloaded = (): Failure =>
  retryLater(
    'server_busy',
    'More is asked of this service than it can answer at the moment. Nothing was done; send the same request again shortly.',
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
    { retryAfter: UNTIL_MENDED_SECONDS },
  )

/** Nothing moved and nothing can: the payer may sign anew. */
export const paymentRequired = (reason: string): Failure =>
  failure('payment_required', `Not charged: ${reason}. ${SIGN_ANEW}`, { reason })

/** Nothing was claimed, because somebody who must be asked cannot be. */
export const facilitatorUnavailable = (what: string): Failure =>
  retryLater('facilitator_unavailable', `${what}. ${TRY_AGAIN}`)

export const facilitatorUnreachable = () => facilitatorUnavailable('The payment facilitator cannot be reached')

export const notArmed = () =>
  facilitatorUnavailable('No new payments are taken at the moment; rail of GET /api/health says when they are again')

export const cannotAskChain = () => facilitatorUnavailable('The chain cannot be asked at the moment')

/** The payment may have moved, or may yet; the block or area waits for its payer. */
export const settlementUnknown = (held: Holding): Failure =>
  retryLater(
    'settlement_unknown',
    `The payment may have gone through, and the ${kindOf(held.target)} is held for you. ${REPEAT}`,
    namedIn(held),
  )

/** The payment was spent, or cannot be used, and the chain does not tell whether it was charged. */
export const cannotLookUp = (): Failure =>
  retryLater('settlement_unknown', `Whether this payment was charged cannot be seen at the moment. ${REPEAT}`)

/** Another process is at the payment, and has been for long. */
export const stillAtIt = (): Failure =>
  retryLater('settlement_unknown', `This payment is being worked on already. ${REPEAT}`)

/** Another payment of the same payer for the same target has to end first. */
export const earlierUnknown = (): Failure =>
  retryLater(
    'settlement_unknown',
    `An earlier payment of yours for this has to end first; this one is not used meanwhile. ${REPEAT}`,
  )

const usedFor = (bought: Holding, message: string): Failure => failure('payment_used', message, namedIn(bought))

/** Another payment of the same payer for the same target landed late, when its block was gone, and got another one. */
export const earlierElsewhere = (bought: Holding): Failure =>
  usedFor(
    bought,
    `An earlier payment of yours arrived late and bought ${wordsFor(bought)}; this one is not used. Send the same request again to buy this ${kindOf(bought.target)} too.`,
  )

/** Paid for, but not yet written down. */
export const notPersisted = (held: Holding): Failure =>
  retryLater('deed_not_persisted', `Paid, but the deed could not be written yet. ${REPEAT}`, namedIn(held))

/** The payment is bound to another block or area. */
export const paymentUsed = (bought: Holding): Failure =>
  usedFor(
    bought,
    `This payment belongs to ${wordsFor(bought)}, with all that was signed then. Sign one with a new nonce to buy another ${kindOf(bought.target)}.`,
  )

/** The payment cannot buy, and its payer bought the same, or by the same name, with another one. */
export const boughtBefore = (bought: Holding): Failure =>
  usedFor(bought, `This payment is not used: an earlier payment of yours bought ${wordsFor(bought)}.`)

/** The client's own name for a purchase stands for another block or area already. */
export const identifierUsed = (bought: Holding): Failure =>
  usedFor(
    bought,
    `This payment-identifier names your purchase of ${wordsFor(bought)}; this payment is not used. Give a new one to buy another ${kindOf(bought.target)}.`,
  )

/** The payment landed when no block was left for it, or its purchase was lost with the database. */
export const paymentCredited = (amount: bigint, tx: Hash, contact: string | null): Failure =>
  failure(
    'payment_credited',
    `The payment arrived and bought nothing. The operator owes it back; do not pay again. ${LOOK}`,
    { amount: amount.toString(), tx, contact },
  )

/** The payment moved its money before the wall had seen it. */
export const paymentUnmatched = (amount: bigint, tx: Hash, contact: string | null): Failure =>
  failure(
    'payment_unmatched',
    'This payment had paid this wall before it arrived here, and no purchase is known for it. Ask the operator for the money, or for what it bought; do not pay again.',
    { charged: 'yes', amount: amount.toString(), tx, contact },
  )

/** The store failed before anything was sent anywhere. */
export const storeUnavailable = (): Failure =>
  retryLater('database_unavailable', `The store cannot be used at the moment. If you sent a payment: ${REPEAT}`)

/** The signature on a payment that is known is another than before, and only a contract can tell whether it is its wallet's. */
export const cannotCheckSignature = (): Failure =>
  retryLater('server_busy', `The signature of this wallet cannot be checked at the moment. ${REPEAT}`)

const TOO_MANY = 'Too many purchases of this wallet are open. Finish those first; this payment is not used meanwhile.'

/**
 * Why a target cannot be bought now, for whoever asks: with a payment, which is then not used, or without one. It may be the
 * payer of the very purchase that is under way.
 */
export function unavailability(target: Target, space: Exclude<Space, 'open'>): Failure {
  if (placeOf(target).at === 'next') return noNext(target, space)
  const [kind, name] = [kindOf(target), nameOf(target)]
  const named = { [kind]: name }
  const what = isBlock(target) ? `Block ${name}` : `Part of area ${name}`
  if (space === 'claimed') {
    const deed = isBlock(target) ? 'GET it without a payment for its deed.' : 'Ask for another place, or for next.'
    return failure('block_taken', `${what} is sold; nothing is charged for it. ${deed}`, named)
  }
  if (space === 'full') return failure('purchase_pending', TOO_MANY, named)
  return retryLater('purchase_pending', `${what} is being bought. ${IF_YOURS}`, named)
}

/** The refusal of a lost claim. A held block may still be released, so `next` is not called sold out yet. */
export const lostClaim = (target: Target, space: Exclude<Space, 'open'>): Failure =>
  unavailability(target, placeOf(target).at === 'next' && space === 'claimed' ? 'reserved' : space)

function noNext(target: Target, space: Exclude<Space, 'open'>): Failure {
  if (space === 'claimed') return failure('sold_out', 'Every block is sold. Owners repaint theirs for free.')
  if (space === 'full') return failure('wall_busy', TOO_MANY)
  const { w, h } = placeOf(target)
  if (space === 'crowded')
    return failure(
      'no_room',
      `No area of ${w}x${h} blocks is open any more. Nothing is charged; ask for a smaller one.`,
    )
  const what = isBlock(target) ? 'Every block left' : `Every area of ${w}x${h} blocks that is left`
  return retryLater('wall_busy', `${what} is being bought. ${IF_YOURS}`)
}
