/** The refusals of a purchase. Each message says whether money may have moved, and what to do next. */

import { AREA_BLOCKS_MAX } from '../../../shared/area.ts'
import type { Rail } from '../../../shared/contract/service.ts'
import { ASSET_SYMBOL, formatAmount } from '../../../shared/money.ts'
import { formatNetworkName } from '../../../shared/usdc.ts'
import { IF_YOURS, LOOK, REPEAT, SIGN_ANEW, TRY_AGAIN } from '../advice.ts'
import { createFailure, type Failure, type FailureCode } from '../failure.ts'
import type { Hash, Availability, Payment } from './payment.ts'
import {
  isBlock,
  getKind,
  toNameField,
  formatTarget,
  getPosition,
  describeHolding,
  type Holding,
  type Target,
} from './target.ts'

/** How long a payer should wait before it sends the same request again. */
export const RETRY_AFTER_SECONDS = 2

// Only the operator can fix wrong settings, so the client should wait longer.
const MISCONFIGURED_RETRY_SECONDS = 60

/** A refusal after which the client should soon send the same request again. */
export const createRetryFailure = (code: FailureCode, message: string, details?: Failure['details']): Failure =>
  createFailure(code, message, { ...details, retryAfter: RETRY_AFTER_SECONDS })

/** The request does not name a block. */
export const createInvalidCoordinateFailure = (): Failure =>
  createFailure(
    'invalid_coordinate',
    'This is not a block. Name a block as col,row: col from 0 to 159, row from 0 to 89, such as 80,45.',
  )

/** The request does not name an area. */
export const createInvalidAreaFailure = (): Failure =>
  createFailure(
    'invalid_area',
    `This is not an area. Name an area as col,row,WxH: its top left block and its size in blocks, such as 80,45,4x3. It must lie on the wall, have 1 to ${AREA_BLOCKS_MAX} blocks, and use no leading zeros.`,
  )

/** Too many pictures are being converted. */
export const createPicturesBusyFailure = (): Failure =>
  createRetryFailure('server_busy', 'The server is busy making pictures. Send the same request again shortly.')

/** Too many payments are being verified or settled, so no call was made for this one. */
export const createPaymentsBusyFailure = (): Failure =>
  createRetryFailure('server_busy', `Too many payments are being processed right now. ${TRY_AGAIN}`)

/** The server is overloaded and did not process the request. */
export const createOverloadFailure = (): Failure =>
  createRetryFailure(
    'server_busy',
    'The server is overloaded and did not handle this request. Send the same request again shortly.',
  )

/** The body of a request with a payment did not arrive completely, so the order is unknown. */
export const createIncompleteBodyFailure = (): Failure =>
  createRetryFailure(
    'settlement_unknown',
    `The request’s body did not arrive whole, so this request did nothing. ${REPEAT}`,
  )

/** The client has used up its budget, and the request was not processed. */
export const createRateLimitFailure = (waitMs: number, message = TOO_MANY): Failure =>
  createFailure('too_many_requests', message, { retryAfter: Math.ceil(waitMs / 1000) })

const TOO_MANY =
  'You have sent too many of these requests. This one was not processed. Wait Retry-After seconds, then send it again.'

/** Payments can never work with these settings, so the wall offers no terms. */
export const createCannotSellFailure = (): Failure =>
  createFailure(
    'facilitator_unavailable',
    'The wall cannot accept payments right now. Nothing was charged or claimed. See /api/health.',
    { retryAfter: MISCONFIGURED_RETRY_SECONDS },
  )

/** Nothing was charged and nothing can be, so the payer may sign a new payment. */
export const createPaymentRequiredFailure = (reason: string): Failure =>
  createFailure('payment_required', describeNotCharged(describeReason(reason)), { reason })

const describeNotCharged = (why: string) => `Not charged: ${why}. ${SIGN_ANEW}`

/**
 * The reason of a refusal as text for the payer. It explains a facilitator's code for the most common error, a lack of
 * funds.
 */
const describeReason = (reason: string): string =>
  /insufficient_(?:balance|funds)/.test(reason)
    ? `the wallet does not hold enough ${ASSET_SYMBOL}; fund it first (${reason})`
    : reason

/**
 * Whether a facilitator refused a payment because the payer's wallet holds too little, or for a reason that may mean
 * this.
 */
export const mayLackFunds = ({ code, details }: Failure): boolean =>
  code === 'payment_required' && /insufficient_|simulation_failed/.test(String(details?.['reason']))

/** Adds the wallet's balance on the chain to a refusal for lack of funds. */
export function addBalance(refusal: Failure, balance: bigint, { amount, accepted: { network } }: Payment): Failure {
  const why = `the wallet holds ${formatAmount(balance)} and needs ${formatAmount(amount)} on ${formatNetworkName(network)}; fund it first`
  const message = refusal.details?.['charged'] === 'unknown' ? describeUnsettled(why) : describeNotCharged(why)
  return { ...refusal, message, details: { ...refusal.details, balance: balance.toString() } }
}

/** The payment's nonce is bound, but not to the order that this request makes. */
export const createOrderMismatchFailure = (): Failure =>
  createFailure(
    'order_mismatch',
    'The payment was signed for another order. It was not sent to anybody. Request the terms again and sign them for exactly this order; if that is refused too, something between you and the wall alters your request.',
  )

/** The operator does not sell to this payer. */
export const createPayerDeniedFailure = (): Failure =>
  createFailure(
    'payer_denied',
    'This wall does not sell to this wallet. The payment was not sent to anybody. Do not send it again.',
  )

/** The message about a refused payment that may still settle. */
export const describeNotSettled = (reason: string): string => describeUnsettled(describeReason(reason))

const describeUnsettled = (why: string) =>
  `This payment was not settled: ${why}. It may still move until it expires. ${SIGN_ANEW}`

/** Nothing was claimed, because a required third party is unavailable. */
export const createFacilitatorFailure = (what: string): Failure =>
  createRetryFailure('facilitator_unavailable', `${what}. ${TRY_AGAIN}`)

export const createFacilitatorUnreachableFailure = () =>
  createFacilitatorFailure('The payment facilitator cannot be reached')

export const createRailNotArmedFailure = () =>
  createFacilitatorFailure(
    'The wall is not accepting new payments right now; it will accept them again once rail in GET /api/health is armed',
  )

/**
 * The text added to the terms while no payment is accepted, so that a client does not sign yet; empty while the rail is
 * armed.
 */
export const describeRail = (rail: Rail): string => (rail === 'armed' ? '' : NOT_NOW)

const NOT_NOW =
  ' The wall does not accept payments right now, and returns 502 for a signed payment: wait until rail in GET /api/health is armed.'

export const createChainUnavailableFailure = () => createFacilitatorFailure('The chain cannot be queried right now')

/** The money may have moved, or may still move. The block or area stays held for the payer. */
export const createSettlementUnknownFailure = (held: Holding): Failure =>
  createRetryFailure(
    'settlement_unknown',
    `The payment may have gone through, and the ${getKind(held.target)} is held for you. ${REPEAT}`,
    toNameField(held),
  )

/** The payment is spent or cannot be used, and the chain does not say whether it was charged. */
export const createChargeUnknownFailure = (): Failure =>
  createRetryFailure('settlement_unknown', `The wall cannot tell right now whether this payment was charged. ${REPEAT}`)

/** Another process has been working on the payment for a long time. */
export const createAlreadyProcessingFailure = (): Failure =>
  createRetryFailure('settlement_unknown', `This payment is already being processed. ${REPEAT}`)

/** An earlier payment of the payer for the same target must be resolved first. */
export const createEarlierUnresolvedFailure = (): Failure =>
  createRetryFailure(
    'settlement_unknown',
    `An earlier payment of yours for the same purchase must finish first. Until then, this payment is not used. ${REPEAT}`,
  )

const createPaymentUsedFailure = (bought: Holding, message: string): Failure =>
  createFailure('payment_used', message, toNameField(bought))

/** An earlier payment of the payer settled late. Its block was gone, so it bought another one. */
export const createBoughtOtherFailure = (bought: Holding): Failure =>
  createPaymentUsedFailure(
    bought,
    `An earlier payment of yours settled late and bought ${describeHolding(bought)}. This payment was not used. To buy this ${getKind(bought.target)} as well, send the same request again.`,
  )

/** The payment settled, but the sale is not saved yet. */
export const createNotPersistedFailure = (held: Holding): Failure =>
  createRetryFailure(
    'deed_not_persisted',
    `Your payment went through, but the deed is not saved yet. ${REPEAT}`,
    toNameField(held),
  )

/** The payment belongs to a block or area other than the one requested. */
export const createOtherPurchaseFailure = (bought: Holding): Failure =>
  createPaymentUsedFailure(
    bought,
    `The payment with this nonce, exactly as it was first signed, belongs to ${describeHolding(bought)}. To buy another ${getKind(bought.target)}, sign a payment with a new nonce.`,
  )

/**
 * The payment cannot buy, and an earlier one of the payer bought the same target or has the same payment-identifier.
 */
export const createAlreadyBoughtFailure = (bought: Holding): Failure =>
  createPaymentUsedFailure(
    bought,
    `This payment was not used: an earlier payment of yours already bought ${describeHolding(bought)}.`,
  )

/** The payment-identifier already belongs to a purchase of a block or area other than the one requested. */
export const createIdentifierUsedFailure = (bought: Holding): Failure =>
  createPaymentUsedFailure(
    bought,
    `You already used this payment-identifier to buy ${describeHolding(bought)}. This payment was not used. To buy another ${getKind(bought.target)}, send a new payment-identifier.`,
  )

type Credit = { readonly tx: Hash; readonly isPaidBack?: true }

/** The payment settled when no block was left for it, or its purchase was lost with the database. */
export const createPaymentCreditedFailure = (
  amount: bigint,
  { tx, isPaidBack }: Credit,
  contact: string | null,
): Failure =>
  createFailure(
    'payment_credited',
    isPaidBack === true
      ? `Your payment of ${formatAmount(amount)} arrived but bought nothing, and the operator has paid it back. To buy, sign a new payment.`
      : `Your payment of ${formatAmount(amount)} arrived but bought nothing. The operator owes it back to you; do not pay again. ${LOOK}`,
    { amount: amount.toString(), tx, contact },
  )

/** The payment settled before the wall received it. */
export const createPaymentUnmatchedFailure = (amount: bigint, tx: Hash, contact: string | null): Failure =>
  createFailure(
    'payment_unmatched',
    `This payment of ${formatAmount(amount)} reached this wall’s address before this request did, and no purchase is recorded for it. Do not pay again. Ask the operator for a refund or for what the payment bought.`,
    { charged: 'yes', amount: amount.toString(), tx, contact },
  )

/** The database failed before anything was sent to a third party. */
export const createStoreUnavailableFailure = (): Failure =>
  createRetryFailure('database_unavailable', `The database is unavailable right now. If you sent a payment: ${REPEAT}`)

/** A known payment came with a new signature, which cannot be checked right now. */
export const createUncheckedSignatureFailure = (): Failure =>
  createRetryFailure('server_busy', `This wallet’s signature cannot be checked right now. ${REPEAT}`)

const TOO_MANY_UNFINISHED =
  'This wallet has too many unfinished purchases. Finish those first; until then, this payment is not used.'

/**
 * Why a target cannot be bought now. The request may carry a payment, which is then not used. The request may also come
 * from the payer of the purchase in progress, so the message does not say that the buyer is somebody else.
 */
export function createUnavailableFailure(target: Target, space: Exclude<Availability, 'open'>): Failure {
  if (getPosition(target).at === 'next') return createNoNextFailure(target, space)
  const [kind, name] = [getKind(target), formatTarget(target)]
  const named = { [kind]: name }
  const what = isBlock(target) ? `Block ${name}` : `Part of area ${name}`
  if (space === 'claimed') {
    const deed = isBlock(target)
      ? 'To read its deed, GET the block without a payment.'
      : 'Request another area, or next for the open one nearest the centre.'
    return createFailure('block_taken', `${what} is already sold. ${deed}`, named)
  }
  if (space === 'full') return createFailure('purchase_pending', TOO_MANY_UNFINISHED, named)
  return createRetryFailure('purchase_pending', `${what} is being bought right now. ${IF_YOURS}`, named)
}

/**
 * The refusal to give if a claim found its target no longer available. A facilitator has the payment, so the payment
 * may still settle while it is valid. Held blocks may still be released, so `next` is not reported as sold out yet.
 */
export function createLostClaimFailure(
  { target, payment: { validBefore } }: { readonly target: Target; readonly payment: Payment },
  space: Exclude<Availability, 'open'>,
): Failure {
  const isNext = getPosition(target).at === 'next'
  const { code, details } = createUnavailableFailure(target, isNext && space === 'claimed' ? 'reserved' : space)
  const what = isNext ? `the last ${getKind(target)}` : `${getKind(target)} ${formatTarget(target)}`
  const why = space === 'full' ? TOO_MANY_UNFINISHED : `Another buyer got ${what}, or part of it.`
  const until = new Date(Number(validBefore) * 1000).toISOString()
  const then = `If it moves, you get the nearest open ${getKind(target)}, or else the operator owes you the money.`
  return createFailure(code, `${why} This payment was not settled, and may move until ${until}. ${then}`, details)
}

function createNoNextFailure(target: Target, space: Exclude<Availability, 'open'>): Failure {
  if (space === 'claimed')
    return createFailure('sold_out', 'Every block is sold. Owners can repaint their blocks for free.')
  if (space === 'full') return createFailure('wall_busy', TOO_MANY_UNFINISHED)
  const { w, h } = getPosition(target)
  if (space === 'crowded')
    return createFailure('no_room', `No area of ${w}x${h} blocks is available any more. Request a smaller one.`)
  const what = isBlock(target) ? 'Every remaining block' : `Every remaining area of ${w}x${h} blocks`
  return createRetryFailure('wall_busy', `${what} is being bought right now. ${IF_YOURS}`)
}
