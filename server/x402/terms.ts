/**
 * The payment demand of x402 v2: the content of a PAYMENT-REQUIRED header for a block or an area. The demand is built
 * from the settings alone, so that terms never depend on a facilitator or a client.
 */

import type { PaymentRequired, PaymentRequirements } from '@x402/core/types'
import { getAddress } from 'viem/utils'
import { formatAmount } from '../../shared/money.ts'
import { PRIMARY_TYPE } from '../../shared/usdc.ts'
import type { Failure } from '../domain/failure.ts'
import { MAX_TIMEOUT_SECONDS, computeTerms, type Terms } from '../domain/purchase/payment.ts'
import { countBlocks, isBlock, getKind, formatTarget, type Target } from '../domain/purchase/target.ts'
import { ofAreas, ofAreaTool, ofBlocks, ofNext, ofTool } from './bazaar.ts'
import { toCaip2 } from './network.ts'
import { orderBinding } from './order-binding.ts'
import { paymentIdentifier } from './payload.ts'

/** The offer: the terms, the wall's name and URL, and the EIP-712 domain of the token that clients pay with. */
export type Offer = {
  readonly terms: Terms
  readonly title: string // the wall's name
  readonly baseUrl: string // without a trailing slash
  readonly assetName: string
  readonly assetVersion: string
  readonly ownershipProofs?: readonly string[] // signatures (EIP-191) of `baseUrl` by the payment address
}

/**
 * The payment requirements for clients, with the type name of the message to sign. Without that name, some clients
 * query the token's contract for it. Facilitators get the bare terms, because some reject fields that they do not know.
 */
export function toOfferRequirements(offer: Offer, target: Target = 'next'): PaymentRequirements {
  const requirements = toRequirements(offer, computeTerms(offer.terms, target))
  return { ...requirements, extra: { ...requirements.extra, primaryType: PRIMARY_TYPE } }
}

/** A demand, which always names the resource that is paid for. */
export type Demand = PaymentRequired & { readonly resource: NonNullable<PaymentRequired['resource']> }

/** The canonical path that sells a target. */
export const formatPath = (target: Target): string => (isBlock(target) ? `/blocks/${formatTarget(target)}` : AREAS_PATH)

/** The route that sells areas; the body names the area. */
export const AREAS_PATH = '/areas'

/** The URL of the resource that a payment is for. */
export const formatResourceUrl = ({ baseUrl }: Offer, target: Target): string => baseUrl + formatPath(target)

/** The price of a target, as a sentence. */
export const describeCost = ({ terms }: Offer, target: Target): string =>
  `This ${getKind(target)} costs ${formatAmount(computeTerms(terms, target).amount)} on ${terms.network}.`

/** The one way to pay: the `accepts` entry for these terms. */
export function toRequirements({ assetName, assetVersion }: Offer, terms: Terms): PaymentRequirements {
  return {
    scheme: 'exact',
    network: toCaip2(terms.network),
    amount: terms.amount.toString(),
    asset: getAddress(terms.asset),
    payTo: getAddress(terms.payTo),
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: { name: assetName, version: assetVersion },
  }
}

/**
 * The details that one request adds to the demand: its query as it was sent, and why its payment was not accepted.
 * `isArea` is set if the request was sent to the endpoint that sells areas, even for one block.
 */
export type DemandDetails = { readonly query?: string; readonly reason?: string; readonly isArea?: true }

/** Why a payment was refused, if the details of the refusal say so. Many clients show only this text. */
export function pickReason(details: Failure['details']): Pick<DemandDetails, 'reason'> {
  const reason = details?.['reason']
  return typeof reason === 'string' ? { reason } : {}
}

// The catalogue entry is left out if a long query would make the header exceed the 8 kB that proxies usually allow.
const QUERY_WITH_CATALOGUE_MAX = 2000

const NOT_CATALOGUED = {}

// The announcements never change and make up most of a demand. Serialising them each time would take longer than
// serialising the rest of the demand.
const extensionsBeside = new Map<object, NonNullable<Demand['extensions']>>()
const texts = new WeakMap<object, string>()

/**
 * The extensions in a demand: a catalogue entry, and the announcements that every demand has. Returns the same object
 * for the same entry.
 */
function listAnnouncedExtensions(catalogued: object): NonNullable<Demand['extensions']> {
  const known = extensionsBeside.get(catalogued)
  if (known !== undefined) return known
  const extensions = { ...catalogued, ...paymentIdentifier, ...orderBinding }
  extensionsBeside.set(catalogued, extensions)
  texts.set(extensions, JSON.stringify(extensions))
  return extensions
}

/** A demand as the value of its header. */
export function encodeDemand({ extensions = {}, ...terms }: Demand): string {
  const text = `${JSON.stringify(terms).slice(0, -1)},"extensions":${texts.get(extensions) ?? JSON.stringify(extensions)}}`
  return Buffer.from(text).toString('base64')
}

/**
 * The whole demand for a target. Some clients request, or insist on, the exact URL in the demand, including the query.
 */
export function buildDemand(
  offer: Offer,
  target: Target,
  { query = '', reason = 'payment_required', isArea }: DemandDetails = {},
): Demand {
  const sells = isArea === true || !isBlock(target) ? AREAS_PATH : formatPath(target)
  const catalogued = sells === AREAS_PATH ? ofAreas : target === 'next' ? ofNext : ofBlocks
  return {
    x402Version: 2,
    error: reason,
    resource: createResource(offer, offer.baseUrl + sells + (query === '' ? '' : `?${query}`), target),
    accepts: [toOfferRequirements(offer, target)],
    extensions: listAnnouncedExtensions(query.length > QUERY_WITH_CATALOGUE_MAX ? NOT_CATALOGUED : catalogued),
  }
}

/** The whole demand for a target that is bought through a tool of the MCP server. */
export const createToolDemand = (
  offer: Offer,
  target: Target,
  { reason = 'payment_required', isArea }: DemandDetails = {},
): Demand => ({
  x402Version: 2,
  error: reason,
  resource: createResource(offer, `${offer.baseUrl}/mcp`, target),
  accepts: [toOfferRequirements(offer, target)],
  extensions: listAnnouncedExtensions(isArea === true ? ofAreaTool : ofTool),
})

const createResource = ({ title }: Offer, url: string, target: Target) => ({
  url,
  description: describeTarget(target),
  mimeType: 'application/json',
  serviceName: title,
  tags: ['pixels', 'billboard', 'art', 'agents'],
})

function describeTarget(target: Target): string {
  if (!isBlock(target))
    return `A rectangle of ${countBlocks(target)} blocks of 10x10 pixels on a public billboard, sold as a whole: a picture, a message, a link.`
  const block = target === 'next' ? 'The open 10x10 pixel block nearest the centre' : 'One 10x10 pixel block'
  return `${block} of a public billboard: 100 pixels, a message, a link.`
}
