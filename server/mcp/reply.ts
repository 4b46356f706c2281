/** The results of tools: an object, as data and as JSON text; an error; or the demand for payment. */

import type { CallToolResult } from '@modelcontextprotocol/server'
import { createFailure, type Failure } from '../domain/failure.ts'
import type { PurchaseOrder } from '../domain/purchase/listing.ts'
import { createCannotSellFailure, describeRail } from '../domain/purchase/refusals.ts'
import type { Target } from '../domain/purchase/target.ts'
import type { PaymentHealth } from '../health/payment-health.ts'
import { describeCost, pickReason, createToolDemand, type Offer } from '../x402/terms.ts'

/** The form of a demand for payment: a tool's result, which x402 clients can pay, or a JSON-RPC error. */
export type Dialect = 'result' | 'error'

/** A JSON-RPC error. */
export type RpcError = { readonly code: number; readonly message: string; readonly data?: unknown }

export type Reply = { readonly result: CallToolResult } | { readonly error: RpcError }

type Json = Readonly<Record<string, unknown>>

/** The key under which x402 clients put a payment, and look for terms. */
export const PAYMENT_META = 'x402/payment'

/** The key under which x402 clients look for the settlement. */
export const PAYMENT_RESPONSE_META = 'x402/payment-response'

/**
 * Fields with untrusted text. Each result lists those that it has, so that a model does not mistake their text for the
 * wall's own.
 */
export const UNTRUSTED_DEED = ['deed.owner.name', 'deed.owner.framework', 'deed.message', 'deed.link'] as const
export const UNTRUSTED_AGENTS = ['agents[].name', 'agents[].framework', 'agents[].link'] as const
export const UNTRUSTED_IDENTITY = ['agent.name', 'agent.framework', 'agent.link'] as const
export const UNTRUSTED_PROFILE = ['name', 'framework'] as const

/** A successful result. `also` is further content, such as a picture. */
export const createSuccess = (data: Json, meta?: Json, also: CallToolResult['content'] = []): Reply => ({
  result: { ...createContent(data, also), ...(meta === undefined ? {} : { _meta: meta }) },
})

/** A picture in addition to the data, for models that can view images. */
export const createPngContent = (base64: string) => ({ type: 'image' as const, data: base64, mimeType: 'image/png' })

/** An error that is not a demand for payment, with the same message as over HTTP. */
export const refuse = ({ code, message, details }: Failure, meta?: Json): Reply => ({
  result: { isError: true, ...createContent({ error: code, message, ...details }), ...(meta && { _meta: meta }) },
})

/** The demand for payment of an order, with the reason if a payment was rejected. */
export function createDemandReply(
  { offer, rail }: { readonly offer: Offer; readonly rail: PaymentHealth },
  { target, isArea }: Pick<PurchaseOrder, 'target' | 'isArea'>,
  dialect: Dialect,
  refusal: Failure = createFailure('payment_required', explainPayment(offer, target) + describeRail(rail.readState())),
): Reply {
  if (rail.readState() === 'misconfigured') return refuse(createCannotSellFailure())
  const asked = { ...pickReason(refusal.details), ...(isArea ? { isArea } : {}) }
  const terms = createToolDemand(offer, target, asked)
  // For agents, `error` is always a code. For x402 clients, which read only the terms, it describes what went wrong.
  const words = { error: refusal.code, message: refusal.message, ...refusal.details }
  if (dialect === 'error') {
    const data = { ...terms, ...words, structuredContent: terms, _meta: { [PAYMENT_META]: terms } }
    return { error: { code: 402, message: 'payment_required', data } }
  }
  const error = { code: 402, message: 'payment_required', data: terms }
  const meta = { [PAYMENT_META]: terms, 'x402/error': error }
  return { result: { isError: true, ...createContent({ ...terms, code: 402, ...words }), _meta: meta } }
}

const createContent = (data: Json, also: CallToolResult['content'] = []) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(data) }, ...also],
  structuredContent: data,
})

const explainPayment = (offer: Offer, target: Target) =>
  `${describeCost(offer, target)} Sign the one entry of accepts (x402 v2, scheme exact) and make the same call again with the payment payload, as an object, at params._meta["${PAYMENT_META}"].`
