/**
 * The payment of a call to a tool that sells. It is in `_meta`, as in x402, or in an argument `headers`, where AWS
 * AgentCore puts it as it would in HTTP headers. Nothing else in that argument is read, and the argument is not part of
 * the order.
 */

import { isFailure, type Failure } from '../domain/failure.ts'
import type { Payment, Target } from '../domain/purchase/payment.ts'
import { AREA_TOOL, BUYING_TOOL } from '../x402/bazaar.ts'
import { readPayment } from '../x402/payload.ts'
import type { Offer } from '../x402/terms.ts'
import { mergePayments, readSentPayment } from '../x402/v1.ts'
import { readArguments } from './arguments.ts'
import type { Message } from './message.ts'
import { PAYMENT_META } from './reply.ts'

/** Separates the headers of an order from its other arguments. */
export function splitOrderAndHeaders(given: unknown): { readonly order: object; readonly headers: object | undefined } {
  const { headers, ...order } = readArguments(given)
  const isHeaders = typeof headers === 'object' && headers !== null && !Array.isArray(headers)
  return isHeaders ? { order, headers } : { order: readArguments(given), headers: undefined }
}

/** The payment for a target; `undefined` if there is none. `payload` is the payment in `_meta`. */
export function readPaymentOfCall(
  payload: unknown,
  headers: object | undefined,
  offer: Offer,
  target: Target,
): Payment | Failure | undefined {
  const sent =
    headers && readSentPayment({ headers: { get: (name) => readHeader(headers, name) } }, offer, target)?.payment
  if (payload === undefined) return sent
  const payment = readPayment(payload)
  return sent === undefined ? payment : mergePayments(payment, sent)
}

/**
 * The payment in a call to a selling tool; `undefined` if there is none or it cannot be read. Calls with a payment have
 * separate budgets.
 */
export function readPaymentOfSale(message: Message, offer: Offer): Payment | undefined {
  if (message.kind !== 'request' || message.method !== 'tools/call') return undefined
  const { name, arguments: given, _meta: meta }: Called = message.params ?? {}
  if (name !== BUYING_TOOL && name !== AREA_TOOL) return undefined
  const payload: unknown = typeof meta === 'object' && meta !== null ? Reflect.get(meta, PAYMENT_META) : undefined
  const payment = readPaymentOfCall(payload, splitOrderAndHeaders(given).headers, offer, 'next')
  return payment === undefined || isFailure(payment) ? undefined : payment
}

type Called = { readonly name?: unknown; readonly arguments?: unknown; readonly _meta?: unknown }

function readHeader(headers: object, name: string): string | null {
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name.toLowerCase()) ?? []
  return typeof value === 'string' ? value : null
}
