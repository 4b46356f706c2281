/** Area orders, as clients send them over HTTP and MCP. */

import { expect } from 'bun:test'
import type { AreaReceipt } from '../../../shared/contract/area-order.ts'
import { sendWhile } from '../wait.ts'
import { type At, type Payer, signDemand } from './buyer.ts'

/** The body of an area order. */
export type AreaBody = Readonly<Record<string, unknown>>

/** Orders an area over HTTP: requests its terms, or buys it with a signed payment. */
export const orderArea = ({ url }: At, body: AreaBody, payment?: string): Promise<Response> =>
  fetch(`${url}/areas`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(payment === undefined ? {} : { 'payment-signature': payment }) },
    body: JSON.stringify(body),
  })

/** Buys an area over MCP. */
export const callBuyArea = ({ url }: At, body: AreaBody, payment: string): Promise<Response> =>
  fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'buy_area',
        arguments: body,
        _meta: { 'x402/payment': JSON.parse(atob(payment)) },
      },
    }),
  })

/** Signs the terms of an area; requests the terms again while the wall is busy. */
export async function signArea(wall: At, payer: Payer, body: AreaBody): Promise<string> {
  const demand = await sendWhile(503, () => orderArea(wall, body))
  expect(demand.status).toBe(402)
  return await signDemand(demand.headers.get('payment-required') ?? '', payer)
}

type ToolAnswer = { readonly result?: { readonly structuredContent?: Partial<AreaReceipt> } }

/** The blocks in a response over HTTP or MCP; none if the response is an error. */
export async function readBoughtBlocks(answer: Response): Promise<readonly string[]> {
  const body = (await answer.json()) as Partial<AreaReceipt> & ToolAnswer
  return body.blocks ?? body.result?.structuredContent?.blocks ?? []
}
