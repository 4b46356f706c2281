/** The refusals of a purchase. Each message says whether money may have moved, and what to do next. */

import { AREA_BLOCKS_MAX } from '../../../shared/area.ts'
import { IF_YOURS, LOOK, REPEAT, SIGN_ANEW, TRY_AGAIN } from '../advice.ts'
import { failure, type Failure, type FailureCode } from '../failure.ts'
import type { Hash, Availability } from './payment.ts'
import { isBlock, kindOf, nameField, nameOf, positionOf, describeHolding, type Holding, type Target } from './target.ts'

/** How long a payer should wait before it sends the same request again. */
export const RETRY_AFTER_SECONDS = 2

// Only the operator can fix wrong settings.
const MISCONFIGURED_RETRY_SECONDS = 60

/** A refusal after which the client should soon send the same request again. */
export const retryLater = (code: FailureCode, message: string, details?: Failure['details']): Failure =>
  failure(code, message, { ...details, retryAfter: RETRY_AFTER_SECONDS })

/** The request does not name a block. */
export const invalidCoordinate = (): Failure =>
  failure('invalid_coordinate', 'A block is named col,row: col from 0 to 159, row from 0 to 89, such as 80,45.')

/** The request does not name an area. */
export const invalidArea = (): Failure =>
  failure(
    'invalid_area',
    `An area is named col,row,WxH: its top left block and its size in blocks, such as 80,45,4x3, without leading zeros, on the wall, of 1 to ${AREA_BLOCKS_MAX} blocks.`,
  )

/** Too many pictures are being converted. */
export const picturesBusy = (): Failure =>
  retryLater('server_busy', 'Too many pictures are being made at the moment. Send the same request again shortly.')

/** Too many payments are being verified or settled, so no call was made for this one. */
export const paymentsBusy = (): Failure =>
  retryLater('server_busy', `Too many payments are being checked at the moment. ${TRY_AGAIN}`)

/** The server is overloaded and did not process the request. */
export const overloaded = (): Failure =>
  retryLater(
    'server_busy',
    'More is asked of this service than it can answer at the moment. Nothing was done; send the same request again shortly.',
  )

/** The client has used up its budget, and the request was not processed. */
export const tooManyRequests = (waitMs: number): Failure =>
  failure(
    'too_many_requests',
    'You have asked for more of this than one client is answered. Nothing was done; wait Retry-After seconds and send the same request again.',
    { retryAfter: Math.ceil(waitMs / 1000) },
  )

/** Payments can never work with these settings, so no terms are given out. */
export const cannotSell = (): Failure =>
  failure(
    'facilitator_unavailable',
    'Payments cannot be taken at the moment. Nothing was charged and nothing claimed. See /api/health.',
    { retryAfter: MISCONFIGURED_RETRY_SECONDS },
  )

/** Nothing was charged and nothing can be, so the payer may sign a new payment. */
export const paymentRequired = (reason: string): Failure =>
  failure('payment_required', `Not charged: ${reason}. ${SIGN_ANEW}`, { reason })

/** Nothing was claimed, because a required third party is unavailable. */
export const facilitatorUnavailable = (what: string): Failure =>
  retryLater('facilitator_unavailable', `${what}. ${TRY_AGAIN}`)

export const facilitatorUnreachable = () => facilitatorUnavailable('The payment facilitator cannot be reached')

export const railNotArmed = () =>
  facilitatorUnavailable('No new payments are taken at the moment; rail of GET /api/health says when they are again')

export const cannotAskChain = () => facilitatorUnavailable('The chain cannot be asked at the moment')

/** The money may have moved, or still may. The block or area stays held for the payer. */
export const settlementUnknown = (held: Holding): Failure =>
  retryLater(
    'settlement_unknown',
    `The payment may have gone through, and the ${kindOf(held.target)} is held for you. ${REPEAT}`,
    nameField(held),
  )

/** The payment is spent or cannot be used, and the chain does not say whether it was charged. */
export const chargeUnknown = (): Failure =>
  retryLater('settlement_unknown', `Whether this payment was charged cannot be seen at the moment. ${REPEAT}`)

/** Another process has been working on the payment for a long time. */
export const alreadyProcessing = (): Failure =>
  retryLater('settlement_unknown', `This payment is being worked on already. ${REPEAT}`)

/** An earlier payment of the payer for the same target must be resolved first. */
export const earlierUnresolved = (): Failure =>
  retryLater(
    'settlement_unknown',
    `An earlier payment of yours for this has to end first; this one is not used meanwhile. ${REPEAT}`,
  )

const usedFor = (bought: Holding, message: string): Failure => failure('payment_used', message, nameField(bought))

/** An earlier payment of the payer settled late. Its block was gone, so it bought another one. */
export const earlierBoughtOther = (bought: Holding): Failure =>
  usedFor(
    bought,
    `An earlier payment of yours arrived late and bought ${describeHolding(bought)}; this one is not used. Send the same request again to buy this ${kindOf(bought.target)} too.`,
  )

/** The payment settled, but the sale is not saved yet. */
export const notPersisted = (held: Holding): Failure =>
  retryLater('deed_not_persisted', `Paid, but the deed could not be written yet. ${REPEAT}`, nameField(held))

/** The payment belongs to another block or area. */
export const paymentUsed = (bought: Holding): Failure =>
  usedFor(
    bought,
    `This payment belongs to ${describeHolding(bought)}, with all that was signed then. Sign one with a new nonce to buy another ${kindOf(bought.target)}.`,
  )

/** The payment cannot buy, and an earlier one of the payer bought the same target or has the same payment-identifier. */
export const alreadyBought = (bought: Holding): Failure =>
  usedFor(bought, `This payment is not used: an earlier payment of yours bought ${describeHolding(bought)}.`)

/** The payment-identifier already belongs to a purchase of another block or area. */
export const identifierUsed = (bought: Holding): Failure =>
  usedFor(
    bought,
    `This payment-identifier names your purchase of ${describeHolding(bought)}; this payment is not used. Give a new one to buy another ${kindOf(bought.target)}.`,
  )

/** The payment settled when no block was left for it, or its purchase was lost with the database. */
export const paymentCredited = (amount: bigint, tx: Hash, contact: string | null): Failure =>
  failure(
    'payment_credited',
    `The payment arrived and bought nothing. The operator owes it back; do not pay again. ${LOOK}`,
    { amount: amount.toString(), tx, contact },
  )

/** The payment settled before the wall received it. */
export const paymentUnmatched = (amount: bigint, tx: Hash, contact: string | null): Failure =>
  failure(
    'payment_unmatched',
    'This payment had paid this wall before it arrived here, and no purchase is known for it. Ask the operator for the money, or for what it bought; do not pay again.',
    { charged: 'yes', amount: amount.toString(), tx, contact },
  )

/** The database failed before anything was sent to a third party. */
export const storeUnavailable = (): Failure =>
  retryLater('database_unavailable', `The store cannot be used at the moment. If you sent a payment: ${REPEAT}`)

/** A known payment came with a new signature, and the contract that must check it cannot be called right now. */
export const cannotCheckSignature = (): Failure =>
  retryLater('server_busy', `The signature of this wallet cannot be checked at the moment. ${REPEAT}`)

const TOO_MANY_UNFINISHED =
  'Too many purchases of this wallet are open. Finish those first; this payment is not used meanwhile.'

/**
 * Why a target cannot be bought now. The request may carry a payment, which is then not used. It may also come from the payer
 * of the purchase in progress, so the message denies nothing.
 */
export function unavailability(target: Target, space: Exclude<Availability, 'open'>): Failure {
  if (positionOf(target).at === 'next') return noNext(target, space)
  const [kind, name] = [kindOf(target), nameOf(target)]
  const named = { [kind]: name }
  const what = isBlock(target) ? `Block ${name}` : `Part of area ${name}`
  if (space === 'claimed') {
    const deed = isBlock(target) ? 'GET it without a payment for its deed.' : 'Ask for another place, or for next.'
    return failure('block_taken', `${what} is sold; nothing is charged for it. ${deed}`, named)
  }
  if (space === 'full') return failure('purchase_pending', TOO_MANY_UNFINISHED, named)
  return retryLater('purchase_pending', `${what} is being bought. ${IF_YOURS}`, named)
}

/** The refusal of a lost claim. Held blocks may still be released, so `next` is not reported as sold out yet. */
export const lostClaim = (target: Target, space: Exclude<Availability, 'open'>): Failure =>
  unavailability(target, positionOf(target).at === 'next' && space === 'claimed' ? 'reserved' : space)

function noNext(target: Target, space: Exclude<Availability, 'open'>): Failure {
  if (space === 'claimed') return failure('sold_out', 'Every block is sold. Owners repaint theirs for free.')
  if (space === 'full') return failure('wall_busy', TOO_MANY_UNFINISHED)
  const { w, h } = positionOf(target)
  if (space === 'crowded')
    return failure(
      'no_room',
      `No area of ${w}x${h} blocks is open any more. Nothing is charged; ask for a smaller one.`,
    )
  const what = isBlock(target) ? 'Every block left' : `Every area of ${w}x${h} blocks that is left`
  return retryLater('wall_busy', `${what} is being bought. ${IF_YOURS}`)
}
