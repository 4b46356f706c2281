/** Buyers who never give up: each signs once, and sends that request until it has an end, whatever dies meanwhile. */

import { x402Client } from '@x402/core/client'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import type { PaymentPayload, PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import type { Wallet } from '../../../server/local/wallets.ts'
import type { AreaReceipt } from '../../../shared/contract/area-order.ts'
import type { Receipt } from '../../../shared/contract/block.ts'
import { flatPng } from '../../support/picture-files.ts'
import type { Door } from './bystanders.ts'
import { priceOf, type Order } from './plan.ts'

/** A buyer, and what came of it. */
export type Buyer = Order & {
  readonly wallet: Wallet
  payload: PaymentPayload | undefined // once signed
  receipt: Receipt | AreaReceipt | undefined // once told so
  refusal: string | undefined // the code of the answer that ended it
  readonly waits: string[] // the codes of the answers that told it to wait, or `silence`
}

/** What an entrance answered; `undefined` when there was no answer at all. */
export type Answer = { readonly status: number; readonly body: unknown; readonly terms?: PaymentRequired } | undefined

// Longer than a lease outlives its process, several times over.
const TIMEOUT_MS = 60_000
const AGAIN_AFTER_MS = 100

// Refusals of a payment that end it; all others are for now, as their words say.
const ENDS = [402, 409, 410]

/** Buys until there is an end, each time by another door. `copies` is how many of each signed request are sent at once. */
export async function buyUntilEnded(buyer: Buyer, door: Door, copies: number): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS
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
    if (answer?.status === 200) keepReceipt(buyer, answer.body as Receipt | AreaReceipt)
    else if (answer !== undefined && ENDS.includes(answer.status)) buyer.refusal ??= codeOf(answer.body)
    else buyer.waits.push(answer === undefined ? 'silence' : codeOf(answer.body))
  }
  return buyer.receipt !== undefined || buyer.refusal !== undefined
}

async function signTerms(buyer: Buyer, answer: Answer): Promise<boolean> {
  if (answer?.terms !== undefined) {
    const client = x402Client.fromConfig({
      schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(buyer.wallet) }],
      spendControls: { maxAmountPerPayment: `$${priceOf(buyer)}` },
    })
    buyer.payload = await client.createPaymentPayload(answer.terms)
    return false
  }
  // A block that is gone, or being bought: this buyer goes home, having signed nothing.
  const isOver = answer !== undefined && (answer.status === 200 || answer.status === 409)
  if (isOver) buyer.refusal = codeOf(answer.body)
  return isOver
}

function keepReceipt(buyer: Buyer, receipt: Receipt | AreaReceipt): void {
  if (buyer.receipt !== undefined && !Bun.deepEquals(buyer.receipt, receipt))
    throw new Error(`two receipts for one payment: ${JSON.stringify([buyer.receipt, receipt])}`)
  buyer.receipt = receipt
}

const codeOf = (body: unknown) => String((body as { error?: string }).error ?? 'deed')

/** The blocks that a receipt is for, by their coordinates. */
export const blocksOf = (receipt: Receipt | AreaReceipt): readonly string[] =>
  'blocks' in receipt ? receipt.blocks : [receipt.block]

/** Asks by the buyer's own entrance, with its payment if there is one. */
export async function ask(order: Order, url: string, payload?: PaymentPayload): Promise<Answer> {
  try {
    return await (order.via === 'http' ? askHttp(url, order, payload) : askMcp(url, order, payload))
  } catch {
    return undefined
  }
}

async function askHttp(url: string, order: Order, payload?: PaymentPayload): Promise<Answer> {
  const paid = payload === undefined ? {} : { 'payment-signature': encodePaymentSignatureHeader(payload) }
  const headers = { accept: 'application/json', ...paid }
  const area = areaBody(order)
  const response = await (area === undefined
    ? fetch(`${url}/blocks/${order.at}`, { headers })
    : fetch(`${url}/areas`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(area),
      }))
  const demand = response.status === 402 ? response.headers.get('payment-required') : null
  const body: unknown = await response.json()
  return { status: response.status, body, ...(demand === null ? {} : { terms: decodePaymentRequiredHeader(demand) }) }
}

/** What is posted for an area; `undefined` for a block. */
function areaBody({ at, area }: Order) {
  if (area === undefined) return undefined
  const { w, h, painted } = area
  return { at, w, h, ...(painted ? { image: IMAGE } : {}) }
}

const IMAGE = flatPng(40, 40, '#ff0000').toBase64()

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
  no_room: 409,
  payment_credited: 409,
  sold_out: 410,
  facilitator_unavailable: 502,
}

async function askMcp(url: string, order: Order, payload?: PaymentPayload): Promise<Answer> {
  const meta = payload === undefined ? {} : { _meta: { 'x402/payment': payload } }
  const area = areaBody(order)
  const what =
    area === undefined ? { name: 'buy_block', arguments: { coord: order.at } } : { name: 'buy_area', arguments: area }
  const params = { ...what, ...meta }
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
