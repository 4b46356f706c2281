/**
 * The headers of both versions of x402. Many clients know only version 1: the terms are in the body of a 402, the
 * payment comes in X-PAYMENT, and the settlement is returned in X-PAYMENT-RESPONSE. The signed message is the same. If
 * a request has both headers, they must carry the same payment, and the response is that of version 2. Once no client
 * sends X-PAYMENT any more (see `wall_paid_requests_total`), only the headers of version 2 will remain.
 */

import type { SettleResponse } from '@x402/core/types'
import type { DemandV1 } from '../../shared/contract/service.ts'
import { createFailure, isFailure, type Failure } from '../domain/failure.ts'
import { computeTerms, type Payment } from '../domain/purchase/payment.ts'
import type { Target } from '../domain/purchase/target.ts'
import { toV1Name as nameOf } from './network.ts'
import { readPayment, readPaymentHeader } from './payload.ts'
import { encodeHeader } from './receipt.ts'
import { toRequirements, type Demand, type Offer } from './terms.ts'

export const PAYMENT_V1 = 'X-PAYMENT'
export const PAYMENT_RESPONSE_V1 = 'X-PAYMENT-RESPONSE'

/** A demand in version 1, as the body of a 402. */
export const toDemandV1 = ({ accepts, resource }: Demand): DemandV1 => ({
  x402Version: 1,
  accepts: accepts.map(({ scheme, network, amount, asset, payTo, maxTimeoutSeconds, extra }) => ({
    scheme,
    network: nameOf(network),
    maxAmountRequired: amount,
    resource: resource.url,
    description: resource.description ?? '',
    mimeType: resource.mimeType ?? 'application/json',
    payTo,
    maxTimeoutSeconds,
    asset,
    extra,
  })),
})

/** The headers with the outcome of a payment. */
export function createSettlementHeaders(
  response: SettleResponse,
  version: SentPayment['version'],
): Record<string, string> {
  const { amount: _, network, ...older } = response
  return {
    'PAYMENT-RESPONSE': encodeHeader(response),
    ...(version === 1 ? { [PAYMENT_RESPONSE_V1]: encodeHeader({ ...older, network: nameOf(network) }) } : {}),
  }
}

/** The payment of a request, and the version of x402 in which it was sent. */
export type SentPayment = { readonly payment: Payment | Failure; readonly version: 1 | 2 }

/** Whether a request carries a payment, in either header. */
export const carriesPayment = ({ headers }: Request): boolean =>
  (headers.get('payment-signature') ?? '') !== '' || (headers.get(PAYMENT_V1) ?? '') !== ''

/** Reads a header by its name in any letter case, as `Request` does. */
type HeaderReader = { get(name: string): string | null }

/** The payment for a target in either header; `undefined` if there is none. */
export function readSentPayment(
  { headers }: { readonly headers: HeaderReader },
  offer: Offer,
  target: Target,
): SentPayment | undefined {
  const second = headers.get('payment-signature') ?? ''
  const first = headers.get(PAYMENT_V1) ?? ''
  if (first === '') return second === '' ? undefined : { payment: readPaymentHeader(second), version: 2 }
  const older = readPaymentHeader(first, (payload) => readPaymentV1(payload, offer, target))
  if (second === '') return { payment: older, version: 1 }
  return { payment: mergePayments(readPaymentHeader(second), older), version: 2 }
}

/** The payment of a request that carries one in each header; a failure if the two differ or if either is invalid. */
export function mergePayments(newer: Payment | Failure, older: Payment | Failure): Payment | Failure {
  const isOne = isFailure(newer) || isFailure(older) || isSameAuthorization(newer, older)
  if (!isOne) return createConflictFailure()
  return isFailure(older) ? older : newer
}

/**
 * Reads a payload of version 1. Such a payload does not repeat the terms, so ours are assumed; the signature is checked
 * against them.
 */
function readPaymentV1(payload: unknown, offer: Offer, target: Target): Payment | Failure {
  if (typeof payload !== 'object' || payload === null || !('x402Version' in payload) || payload.x402Version !== 1)
    return createUnreadableFailure(
      `${PAYMENT_V1} is for payments of x402 version 1; send a version 2 payment in PAYMENT-SIGNATURE`,
    )
  const { scheme, network, payload: inner } = { scheme: '', network: '', payload: undefined, ...payload }
  const accepted = toRequirements(offer, computeTerms(offer.terms, target))
  if (scheme !== accepted.scheme || network !== nameOf(accepted.network))
    return createUnreadableFailure(`the scheme must be ${accepted.scheme}, the network ${nameOf(accepted.network)}`)
  return readPayment({ x402Version: 2, accepted, payload: inner })
}

const isSameAuthorization = (one: Payment, other: Payment) =>
  one.payer === other.payer && one.nonce === other.nonce && one.signature === other.signature

const createConflictFailure = () => createUnreadableFailure('the request contains two different payments; send one')

const createUnreadableFailure = (what: string): Failure =>
  createFailure('invalid_payment', `The payment is invalid: ${what}. Nothing was charged.`)
