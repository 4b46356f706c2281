/** Error responses: the Error shape, and the payment terms in a 402. */

import { DEMAND_LINK, PATHS } from '../../discovery/links.ts'
import { createFailure, statusOf, isFailure, type Failure, type FailureCode } from '../../domain/failure.ts'
import { createCannotSellFailure, describeRail } from '../../domain/purchase/refusals.ts'
import type { Target } from '../../domain/purchase/target.ts'
import type { PaymentHealth } from '../../health/payment-health.ts'
import {
  describeCost,
  encodeDemand,
  buildDemand,
  pickReason,
  type DemandDetails,
  type Offer,
} from '../../x402/terms.ts'
import { toDemandV1 } from '../../x402/v1.ts'
import { cloneResponse } from './cached-response.ts'
import { respondPaymentPage } from './payment-page.ts'
import { NO_STORE, respondJson, VARIES_BY_PAYMENT, type HeaderFields } from './respond.ts'
import { createSiteHeaders } from './security-headers.ts'

export type DemandDeps = { readonly offer: Offer; readonly rail: PaymentHealth }

/**
 * Headers that close the connection, for a request whose body was not read or a client that sends more requests than
 * the wall serves.
 */
export const CLOSE_CONNECTION: HeaderFields = { Connection: 'close' }

// A flooding client may already have sent more requests on the connection, and refusing each of them costs time.
const ENDS_CONNECTION: ReadonlySet<FailureCode> = new Set(['too_many_requests', 'server_busy'])

/** Makes any error response except a demand for payment. */
export function refuse({ code, message, details }: Failure, headers: HeaderFields = {}): Response {
  return respondJson(
    statusOf[code],
    { error: code, message, ...details },
    { ...NO_STORE, ...formatRetryAfter(details), ...(ENDS_CONNECTION.has(code) ? CLOSE_CONNECTION : {}), ...headers },
  )
}

/** Makes a response that is never cached: the result of a use case as JSON, or its refusal. */
export const respondResult = (result: object | Failure): Response =>
  isFailure(result) ? refuse(result) : respondJson(200, result, NO_STORE)

/** Makes the error response for a target that is for sale. A 402 contains the payment terms. */
export function refuseTarget(deps: DemandDeps, target: Target, refusal: Failure, asked: DemandDetails = {}): Response {
  if (refusal.code !== 'payment_required') return refuse(refusal)
  if (deps.rail.readState() === 'misconfigured') return refuse(createCannotSellFailure())
  const { code, message, details } = refusal
  const { body, headers } = createDemand(deps, target, { ...asked, ...pickReason(details) })
  return respondJson(statusOf[code], { error: code, message, ...details, ...body }, headers)
}

// A cached demand takes about 5 kB, so the demands for all blocks would take 70 MB.
const READY_MAX = 2048

/** Makes the 402 for a target and the query of the request; the query may be empty. */
export type MakeDemand = (target: Target, query: string) => Response

/**
 * Makes payment demands for requests without a payment. A demand without a query depends only on the target and on the
 * state of the rail, so it is cached until that state changes.
 */
export function createDemandMaker(deps: DemandDeps): MakeDemand {
  const ready = new Map<Target, Response>()
  let rail = deps.rail.readState()
  let unpaid = createUnpaidFailure(deps, 'next')
  const makeRefusal = (target: Target) => {
    const made = refuseTarget(deps, target, unpaid)
    if (ready.size >= READY_MAX) ready.clear()
    ready.set(target, made)
    return made
  }
  return (target, query) => {
    const now = deps.rail.readState()
    if (now === 'misconfigured') return refuse(createCannotSellFailure())
    if (now !== rail) {
      ready.clear()
      rail = now
      unpaid = createUnpaidFailure(deps, 'next')
    }
    return query === ''
      ? cloneResponse(ready.get(target) ?? makeRefusal(target))
      : refuseTarget(deps, target, unpaid, { query })
  }
}

/** Makes the 402 for an area. There are too many areas to cache their demands. */
export const demandPaymentForArea = (deps: DemandDeps, target: Target): Response =>
  refuseTarget(deps, target, createUnpaidFailure(deps, target), { isArea: true })

/** Makes the 402 as an HTML page for people, because a browser cannot pay. */
export function demandPaymentInHtml(deps: DemandDeps, target: Target, query: string): Response {
  if (deps.rail.readState() === 'misconfigured') return refuse(createCannotSellFailure())
  return respondPaymentPage(deps.offer, {
    ...createDemand(deps, target, { query }).headers,
    ...createSiteHeaders(deps.offer.baseUrl),
  })
}

function createDemand({ offer }: DemandDeps, target: Target, asked: DemandDetails) {
  const terms = buildDemand(offer, target, asked)
  return {
    body: { resource: terms.resource.url, docs: offer.baseUrl + PATHS.openapi, ...toDemandV1(terms) },
    headers: {
      ...NO_STORE,
      ...VARIES_BY_PAYMENT,
      'PAYMENT-REQUIRED': encodeDemand(terms),
      // The AgentCash probe recognises the protocol only by this header.
      'X-PAYMENT-PROTOCOL': 'x402',
      Link: DEMAND_LINK,
    },
  }
}

const createUnpaidFailure = (deps: DemandDeps, target: Target): Failure =>
  createFailure('payment_required', explainPayment(deps.offer, target) + describeRail(deps.rail.readState()))

const explainPayment = (offer: Offer, target: Target) =>
  `${describeCost(offer, target)} Sign the terms in the PAYMENT-REQUIRED header (x402 v2, scheme exact) and send the same request again with a PAYMENT-SIGNATURE header; clients of x402 v1 find their terms in this body.`

function formatRetryAfter(details: Failure['details']): HeaderFields {
  const seconds = details?.['retryAfter']
  return typeof seconds === 'number' ? { 'Retry-After': seconds.toString() } : {}
}
