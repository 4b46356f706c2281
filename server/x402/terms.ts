/**
 * The payment demand of x402 v2: what a PAYMENT-REQUIRED header says for a block. Built from the settings alone, so
 * that terms never depend on what a facilitator or a client says.
 */

import type { PaymentRequired, PaymentRequirements } from '@x402/core/types'
import { getAddress } from 'viem/utils'
import { coordOf } from '../../shared/wall.ts'
import { MAX_TIMEOUT_SECONDS, type Target, type Terms } from '../domain/payment.ts'
import { PRIMARY_TYPE } from './authorization.ts'
import { ofBlocks, ofNext, ofTool } from './bazaar.ts'
import { asCaip2 } from './network.ts'
import { paymentIdentifier } from './payment-identifier.ts'

/** What is offered, where, and in which token's words (EIP-712 domain) it is signed. */
export type Offer = {
  readonly terms: Terms
  readonly baseUrl: string // without a trailing slash
  readonly assetName: string
  readonly assetVersion: string
}

/**
 * The same as clients are told it, some of which read the token's contract unless they are told which message to sign. Facilitators are
 * sent the bare terms: some refuse what they do not know.
 */
export function offered(offer: Offer): PaymentRequirements {
  const requirements = requirementsOf(offer, offer.terms)
  return { ...requirements, extra: { ...requirements.extra, primaryType: PRIMARY_TYPE } }
}

/** A demand, which always names what is paid for. */
export type Demand = PaymentRequired & { readonly resource: NonNullable<PaymentRequired['resource']> }

/** Canonical path of a target. */
export const pathOf = (target: Target): string => (target === 'next' ? '/blocks/next' : `/blocks/${coordOf(target)}`)

/** The address a payment is for. */
export const resourceUrl = ({ baseUrl }: Offer, target: Target): string => baseUrl + pathOf(target)

/** The one way to pay: the `accepts` entry for these terms. */
export function requirementsOf({ assetName, assetVersion }: Offer, terms: Terms): PaymentRequirements {
  return {
    scheme: 'exact',
    network: asCaip2(terms.network),
    amount: terms.amount.toString(),
    asset: getAddress(terms.asset),
    payTo: getAddress(terms.payTo),
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: { name: assetName, version: assetVersion },
  }
}

/** What one request adds to the demand: its query, as it was sent, and why the payment it carried was not taken. */
export type Asked = { readonly query?: string; readonly reason?: string }

// What catalogues read is left out beside a query so long that the header would not fit the usual 8 kB of a proxy.
const QUERY_WITH_CATALOGUE_MAX = 2000

/** The whole demand for a target. Some clients request, or insist on, the very address it names, the query included. */
export function paymentRequired(
  offer: Offer,
  target: Target,
  { query = '', reason = 'payment_required' }: Asked = {},
): Demand {
  const catalogued = target === 'next' ? ofNext : ofBlocks
  return {
    x402Version: 2,
    error: reason,
    resource: resourceAt(resourceUrl(offer, target) + (query === '' ? '' : `?${query}`), target),
    accepts: [offered(offer)],
    extensions: { ...(query.length > QUERY_WITH_CATALOGUE_MAX ? {} : catalogued), ...paymentIdentifier },
  }
}

/** The whole demand for a target that is bought by the tool of the MCP server. */
export const toolPaymentRequired = (
  offer: Offer,
  target: Target,
  { reason = 'payment_required' }: Asked = {},
): Demand => ({
  x402Version: 2,
  error: reason,
  resource: resourceAt(`${offer.baseUrl}/mcp`, target),
  accepts: [offered(offer)],
  extensions: { ...ofTool, ...paymentIdentifier },
})

const resourceAt = (url: string, target: Target) => ({
  url,
  description:
    target === 'next'
      ? 'The open 10x10 pixel block nearest the centre of a public billboard: 100 pixels, a message, a link.'
      : 'One 10x10 pixel block of a public billboard: 100 pixels, a message, a link.',
  mimeType: 'application/json',
  serviceName: 'Pixel Wall',
  tags: ['pixels', 'billboard', 'art', 'agents'],
})
