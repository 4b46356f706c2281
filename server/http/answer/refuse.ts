/** Refusals on the wire: the Error shape, and for a 402 the terms with it. */

import { lru } from '../../../shared/lru.ts'
import { ASSET_SYMBOL, moneyText } from '../../../shared/money.ts'
import { DEMAND_LINK, PATHS } from '../../discovery/links.ts'
import { failure, statusOf, type Failure } from '../../domain/failure.ts'
import { termsFor } from '../../domain/purchase/payment.ts'
import { cannotSell } from '../../domain/purchase/refusals.ts'
import { isBlock, type Target } from '../../domain/purchase/target.ts'
import type { PaymentHealth } from '../../health/payment-health.ts'
import { encodeHeader } from '../../x402/header.ts'
import { paymentRequired, type Asked, type Offer } from '../../x402/terms.ts'
import { demandV1 } from '../../x402/v1.ts'
import { copyOf } from './cached-response.ts'
import { pageHeaders } from './page-headers.ts'
import { respondPaymentPage } from './payment-page.ts'
import { NO_STORE, respondJson, VARIES_BY_PAYMENT, type HeaderFields } from './respond.ts'

/** What a demand for payment is made from. */
export type DemandDeps = { readonly offer: Offer; readonly rail: PaymentHealth }

/** Any refusal but a demand for payment. */
export function refuse({ code, message, details }: Failure, headers: HeaderFields = {}): Response {
  return respondJson(
    statusOf[code],
    { error: code, message, ...details },
    { ...NO_STORE, ...retryAfter(details), ...headers },
  )
}

/** A refusal of something that is for sale: where a payment is asked for, it comes with the terms. */
export function refuseTarget(deps: DemandDeps, target: Target, refusal: Failure, asked: Asked = {}): Response {
  if (refusal.code !== 'payment_required') return refuse(refusal)
  if (deps.rail.state() === 'misconfigured') return refuse(cannotSell())
  const { code, message, details } = refusal
  const { body, headers } = demand(deps, target, { ...asked, ...reasonIn(details) })
  return respondJson(statusOf[code], { error: code, message, ...details, ...body }, headers)
}

// A demand takes some 5 kB; the whole wall's would be 70 MB.
const READY_MAX = 2048

/** Demands payment for a target, asked for with a query. */
export type Demanding = (target: Target, query: string) => Response

/** Makes the demand for payment to someone who has sent none. Without a query it depends on the target alone, so it is made once and copied. */
export function demands(deps: DemandDeps): Demanding {
  const ready = lru<Target, Response>(READY_MAX)
  const make = (target: Target) => {
    const made = refuseTarget(deps, target, unpaid)
    ready.set(target, made)
    return made
  }
  const unpaid = failure('payment_required', howToPay(deps.offer, 'next'))
  return (target, query) => {
    if (deps.rail.state() === 'misconfigured') return refuse(cannotSell())
    if (query !== '') return refuseTarget(deps, target, unpaid, { query })
    return copyOf(ready.get(target) ?? make(target))
  }
}

/** Demands payment for an area. There are too many to keep their demands. */
export const demandForArea = (deps: DemandDeps, target: Target): Response =>
  refuseTarget(deps, target, failure('payment_required', howToPay(deps.offer, target)), { isArea: true })

/** The same demand for a person with a browser, who cannot pay here. */
export function demandPaymentInHtml(deps: DemandDeps, target: Target, query: string): Response {
  if (deps.rail.state() === 'misconfigured') return refuse(cannotSell())
  return respondPaymentPage(deps.offer, {
    ...demand(deps, target, { query }).headers,
    ...pageHeaders(deps.offer.baseUrl),
  })
}

function demand({ offer }: DemandDeps, target: Target, asked: Asked) {
  const terms = paymentRequired(offer, target, asked)
  return {
    body: { resource: terms.resource.url, docs: offer.baseUrl + PATHS.openapi, ...demandV1(terms) },
    headers: {
      ...NO_STORE,
      ...VARIES_BY_PAYMENT,
      'PAYMENT-REQUIRED': encodeHeader(terms),
      // Read by AgentCash's probe, which knows the protocol by no other name.
      'X-PAYMENT-PROTOCOL': 'x402',
      Link: DEMAND_LINK,
    },
  }
}

const howToPay = ({ terms }: Offer, target: Target) =>
  `This ${isBlock(target) ? 'block' : 'area'} costs ${moneyText(termsFor(terms, target).amount)} ${ASSET_SYMBOL} on ${terms.network}. Sign the terms in the PAYMENT-REQUIRED header (x402 v2, scheme exact) and send the same request again with a PAYMENT-SIGNATURE header; clients of x402 v1 find their terms in this body.`

/** Why a payment was not taken: many clients show nothing but what the header says of it. */
function reasonIn(details: Failure['details']): Pick<Asked, 'reason'> {
  const reason = details?.['reason']
  return typeof reason === 'string' ? { reason } : {}
}

function retryAfter(details: Failure['details']): HeaderFields {
  const seconds = details?.['retryAfter']
  return typeof seconds === 'number' ? { 'Retry-After': seconds.toString() } : {}
}
