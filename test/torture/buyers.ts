/** Buyers who never give up: each signs once, and sends that request until it has an end, whatever dies meanwhile. */

import { x402Client } from '@x402/core/client'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import type { PaymentPayload, PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import type { Wallet } from '../../server/local/wallets.ts'
import type { Receipt } from '../../shared/contract/block.ts'
import type { Door } from './bystanders.ts'
import type { Order } from './plan.ts'

/** A buyer, and what came of it. */
export type Buyer = Order & {
  readonly wallet: Wallet
  payload: PaymentPayload | undefined // once signed
  receipt: Receipt | undefined // once told so
  refusal: string | undefined // the code of the answer that ended it
  readonly waits: string[] // the codes of the answers that told it to wait, or `silence`
}

/** What an entrance answered; `undefined` when there was no answer at all. */
export type Answer = { readonly status: number; readonly body: unknown; readonly terms?: PaymentRequired } | undefined

// Longer than a lease outlives its process, several times over.
const PATIENCE_MS = 60_000
const AGAIN_AFTER_MS = 100

// Refusals of a payment that end it; all others are for now, as their words say.
const ENDS = [402, 409, 410]

/** Buys until there is an end, each time by another door. `copies` is how many of each signed request are sent at once. */
export async function persist(buyer: Buyer, door: Door, copies: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (performance.now() < deadline) {
    if (await step(buyer, door, copies)) return
    await Bun.sleep(AGAIN_AFTER_MS)
  }
  buyer.refusal = 'no end'
}

async function step(buyer: Buyer, door: Door, copies: number): Promise<boolean> {
  if (buyer.payload === undefined) return await signTerms(buyer, await ask(buyer, door()))
  const { payload } = buyer
  const answers = await Promise.all(Array.from({ length: copies }, () => ask(buyer, door(), payload)))
  for (const answer of answers) {
    if (answer?.status === 200) hand(buyer, answer.body as Receipt)
    else if (answer !== undefined && ENDS.includes(answer.status)) buyer.refusal ??= codeOf(answer.body)
    else buyer.waits.push(answer === undefined ? 'silence' : codeOf(answer.body))
  }
  return buyer.receipt !== undefined || buyer.refusal !== undefined
}

async function signTerms(buyer: Buyer, answer: Answer): Promise<boolean> {
  if (answer?.terms !== undefined) {
    const client = new x402Client().register('eip155:8453', new ExactEvmScheme(buyer.wallet))
    buyer.payload = await client.createPaymentPayload(answer.terms)
    return false
  }
  // A block that is gone, or being bought: this buyer goes home, having signed nothing.
  const isOver = answer !== undefined && (answer.status === 200 || answer.status === 409)
  if (isOver) buyer.refusal = codeOf(answer.body)
  return isOver
}

function hand(buyer: Buyer, receipt: Receipt): void {
  if (buyer.receipt !== undefined && !Bun.deepEquals(buyer.receipt, receipt))
    throw new Error(`two receipts for one payment: ${JSON.stringify([buyer.receipt, receipt])}`)
  buyer.receipt = receipt
}

const codeOf = (body: unknown) => String((body as { error?: string }).error ?? 'deed')

/** Asks by the buyer's own entrance, with its payment if there is one. */
export async function ask({ via, target }: Order, url: string, payload?: PaymentPayload): Promise<Answer> {
  try {
    return await (via === 'http' ? askHttp(url, target, payload) : askMcp(url, target, payload))
  } catch {
    return undefined
  }
}

async function askHttp(url: string, target: string, payload?: PaymentPayload): Promise<Answer> {
  const paid = payload === undefined ? {} : { 'payment-signature': encodePaymentSignatureHeader(payload) }
  const response = await fetch(`${url}/blocks/${target}`, { headers: { accept: 'application/json', ...paid } })
  const demand = response.status === 402 ? response.headers.get('payment-required') : null
  const body: unknown = await response.json()
  return { status: response.status, body, ...(demand === null ? {} : { terms: decodePaymentRequiredHeader(demand) }) }
}

type ToolResult = {
  readonly isError?: boolean
  readonly structuredContent: { readonly code?: number; readonly error?: string }
  readonly _meta?: { readonly 'x402/payment'?: PaymentRequired }
}

const statuses: Readonly<Record<string, number>> = {
  payment_used: 409,
  block_taken: 409,
  purchase_pending: 409,
  wall_busy: 409,
  payment_credited: 409,
  sold_out: 410,
  facilitator_unavailable: 502,
}

async function askMcp(url: string, coord: string, payload?: PaymentPayload): Promise<Answer> {
  const meta = payload === undefined ? {} : { _meta: { 'x402/payment': payload } }
  const params = { name: 'buy_block', arguments: { coord }, ...meta }
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const { result } = (await response.json()) as { result: ToolResult }
  const { structuredContent: body, _meta } = result
  if (result.isError !== true) return { status: 200, body }
  const terms = _meta?.['x402/payment']
  if (body.code === 402) return { status: 402, body: { error: 'payment_required' }, ...(terms ? { terms } : {}) }
  return { status: statuses[body.error ?? ''] ?? 503, body }
}
