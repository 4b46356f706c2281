/**
 * Persistent buyers: each signs once, and sends the signed request until the purchase has ended, whatever crashes
 * meanwhile. Some hang up once while their payment is settled, and sign a new payment; these too may be charged only
 * once.
 */

import { x402Client } from '@x402/core/client'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import type { PaymentPayload, PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import type { Wallet } from '../../../server/local/wallets.ts'
import type { AreaReceipt } from '../../../shared/contract/area-order.ts'
import type { Receipt } from '../../../shared/contract/block.ts'
import { createFlatPng } from '../../support/picture-files.ts'
import type { Door } from './bystanders.ts'
import { computePrice, type Order } from './plan.ts'

/** A buyer, and its result. */
export type Buyer = Order & {
  readonly wallet: Wallet
  payload: PaymentPayload | undefined // once signed
  abandoned: PaymentPayload | undefined // the payment that was being settled when the buyer hung up
  receipt: Receipt | AreaReceipt | undefined // once received
  refusal: string | undefined // the code of the response that ended the purchase
  readonly waits: string[] // the codes of responses that asked the buyer to wait; `silence` if none came
}

/** A buyer who has done nothing yet. */
export const createBuyer = (order: Order, wallet: Wallet): Buyer => ({
  ...order,
  wallet,
  payload: undefined,
  abandoned: undefined,
  receipt: undefined,
  refusal: undefined,
  waits: [],
})

/** The response to an order, over HTTP or MCP; `undefined` if there was none. */
export type Answer = { readonly status: number; readonly body: unknown; readonly terms?: PaymentRequired } | undefined

// Several times as long as a lease can outlive its process.
const TIMEOUT_MS = 60_000
const AGAIN_AFTER_MS = 100

// The statuses of rejections that end a payment; all other rejections are temporary, as their messages say.
const ENDS = [402, 409, 410]

/** Functions that close a buyer's connections, by the nonce of the payment that is being settled. */
export type HangUps = Map<string, () => void>

/**
 * Sends a buyer's requests until the purchase has ended, to each wall in turn if there are several. `copies` is
 * how many copies of each signed request are sent in parallel.
 */
export async function buyUntilEnded(
  buyer: Buyer,
  door: Door,
  copies: number,
  hangUps: HangUps = new Map(),
): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS
  while (performance.now() < deadline) {
    if (await takeStep(buyer, door, copies, hangUps)) return
    await Bun.sleep(AGAIN_AFTER_MS)
  }
  buyer.refusal = 'no end'
}

async function takeStep(buyer: Buyer, door: Door, copies: number, hangUps: HangUps): Promise<boolean> {
  if (buyer.payload === undefined) return await signTerms(buyer, await sendOrder(buyer, door()))
  const { payload } = buyer
  const leaving = new AbortController()
  if (buyer.leaves && buyer.abandoned === undefined) hangUps.set(readNonce(payload), () => leaving.abort())
  const answers = await Promise.all(
    Array.from({ length: copies }, () => sendOrder(buyer, door(), payload, leaving.signal)),
  )
  hangUps.delete(readNonce(payload))
  if (leaving.signal.aborted) {
    buyer.abandoned = payload
    buyer.payload = undefined
    return false
  }
  for (const answer of answers) {
    if (answer?.status === 200) storeReceipt(buyer, answer.body as Receipt | AreaReceipt)
    else if (answer !== undefined && ENDS.includes(answer.status)) buyer.refusal ??= readErrorCode(answer.body)
    else buyer.waits.push(answer === undefined ? 'silence' : readErrorCode(answer.body))
  }
  if (buyer.receipt !== undefined) return true
  return buyer.refusal !== undefined && !returnToAbandonedPayment(buyer)
}

/**
 * Makes the buyer resend the abandoned payment, if there is one, because its purchase may block the new purchase.
 * Returns whether the buyer will resend it.
 */
function returnToAbandonedPayment(buyer: Buyer): boolean {
  if (buyer.abandoned === undefined || buyer.payload === buyer.abandoned) return false
  buyer.payload = buyer.abandoned
  buyer.refusal = undefined
  return true
}

async function signTerms(buyer: Buyer, answer: Answer): Promise<boolean> {
  if (answer?.terms !== undefined) {
    const client = x402Client.fromConfig({
      schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(buyer.wallet) }],
      spendControls: { maxAmountPerPayment: `$${computePrice(buyer)}` },
    })
    buyer.payload = await client.createPaymentPayload(answer.terms)
    return false
  }
  // The block is sold or being bought, so the buyer gives up without signing another payment.
  const isOver = answer !== undefined && (answer.status === 200 || answer.status === 409)
  if (isOver) buyer.refusal = readErrorCode(answer.body)
  return isOver && !returnToAbandonedPayment(buyer)
}

/** Stores a receipt without its notice, if it has one; throws if the buyer already has a different receipt. */
function storeReceipt(buyer: Buyer, { notice: _notice, ...receipt }: Receipt | AreaReceipt): void {
  if (buyer.receipt !== undefined && !Bun.deepEquals(buyer.receipt, receipt))
    throw new Error(`two receipts for one payment: ${JSON.stringify([buyer.receipt, receipt])}`)
  buyer.receipt = receipt
}

const readErrorCode = (body: unknown) => String((body as { error?: string }).error ?? 'deed')

/** The blocks that a receipt is for, by their coordinates. */
export const listBlocks = (receipt: Receipt | AreaReceipt): readonly string[] =>
  'blocks' in receipt ? receipt.blocks : [receipt.block]

/** The nonce of a signed authorization. */
export const readNonce = ({ payload }: PaymentPayload): string =>
  (payload as { authorization?: { nonce?: string } }).authorization?.nonce?.toLowerCase() ?? ''

/** Sends an order over the interface that it specifies, with a payment if there is one. */
export async function sendOrder(
  order: Order,
  url: string,
  payload?: PaymentPayload,
  signal = new AbortController().signal,
): Promise<Answer> {
  try {
    return await (order.via === 'http'
      ? sendOverHttp(url, order, signal, payload)
      : sendOverMcp(url, order, signal, payload))
  } catch {
    return undefined
  }
}

async function sendOverHttp(url: string, order: Order, signal: AbortSignal, payload?: PaymentPayload): Promise<Answer> {
  const paid = payload === undefined ? {} : { 'payment-signature': encodePaymentSignatureHeader(payload) }
  const headers = { accept: 'application/json', ...paid }
  const area = createAreaBody(order)
  const response = await (area === undefined
    ? fetch(`${url}/blocks/${order.at}`, { headers, signal })
    : fetch(`${url}/areas`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(area),
        signal,
      }))
  const demand = response.status === 402 ? response.headers.get('payment-required') : null
  const body: unknown = await response.json()
  return { status: response.status, body, ...(demand === null ? {} : { terms: decodePaymentRequiredHeader(demand) }) }
}

/** The body of an order for an area; `undefined` for a block. */
function createAreaBody({ at, area }: Order) {
  if (area === undefined) return undefined
  const { w, h, painted } = area
  return { at, w, h, ...(painted ? { image: IMAGE } : {}) }
}

const IMAGE = createFlatPng(40, 40, '#ff0000').toBase64()

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

async function sendOverMcp(url: string, order: Order, signal: AbortSignal, payload?: PaymentPayload): Promise<Answer> {
  const meta = payload === undefined ? {} : { _meta: { 'x402/payment': payload } }
  const area = createAreaBody(order)
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
    signal,
  })
  const { result } = (await response.json()) as { result: ToolResult }
  const { structuredContent: body, _meta } = result
  if (result.isError !== true) return { status: 200, body }
  const terms = _meta?.['x402/payment']
  if (body.code === 402) return { status: 402, body: { error: 'payment_required' }, ...(terms ? { terms } : {}) }
  return { status: statuses[body.error ?? ''] ?? 503, body }
}
