/** The actions of buyers and owners on a wall, over HTTP. */

import { expect } from 'bun:test'
import { x402Client } from '@x402/core/client'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import type { Wallet } from '../../../server/local/wallets.ts'
import type { Receipt } from '../../../shared/contract/block.ts'
import { formatEditMessage } from '../../../shared/signing.ts'
import { sendWhile } from '../wait.ts'

/** The address of a wall. */
export type At = { readonly url: string }

/** Reads a block, or buys it with a signed payment. */
export function fetchBlock({ url }: At, target: string, payment?: string): Promise<Response> {
  const headers = payment === undefined ? {} : { 'payment-signature': payment }
  return fetch(`${url}/blocks/${target}`, { headers: { accept: 'application/json', ...headers } })
}

/** The signer of payments: a key, or a contract wallet whose owner has a key. */
export type Payer = ConstructorParameters<typeof ExactEvmScheme>[0]

/** Signs the wall's own terms like the stock client; the signed payment can be sent more than once. */
export async function signBlockPayment(wall: At, wallet: Payer, target = 'next'): Promise<string> {
  const demand = await fetchBlock(wall, target)
  expect(demand.status).toBe(402)
  return await signDemand(demand.headers.get('payment-required') ?? '', wallet)
}

/** Buys a block with one signed request, sent once. */
export async function buyBlock(
  wall: At,
  payer: Payer,
  target = 'next',
): Promise<{ readonly payment: string; readonly receipt: Receipt }> {
  const payment = await signBlockPayment(wall, payer, target)
  const answer = await fetchBlock(wall, target, payment)
  expect(answer.status).toBe(200)
  return { payment, receipt: (await answer.json()) as Receipt }
}

/** Repaints a block with a new message, signed by its owner for the host name of the request. */
export async function repaintBlock(
  { url }: At,
  owner: Pick<Wallet, 'signMessage'>,
  coord: string,
  message: string,
): Promise<Response> {
  const ts = Date.now()
  const signature = await owner.signMessage({
    message: formatEditMessage(new URL(url).hostname, coord, ts, { message }),
  })
  return await fetch(`${url}/blocks/${coord}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ts, signature, message }),
  })
}

/** The stock client with a spend cap above the price of the largest area; the default cap is a dollar. */
export const createPayingClient = (wallet: Payer): x402Client =>
  x402Client.fromConfig({
    schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(wallet) }],
    spendControls: { maxAmountPerPayment: '$400' },
  })

/** Signs terms from an earlier response. */
export async function signDemand(header: string, wallet: Payer): Promise<string> {
  return encodePaymentSignatureHeader(
    await createPayingClient(wallet).createPaymentPayload(decodePaymentRequiredHeader(header)),
  )
}

/** Resends the same signed request while the response has status 503. */
export const sendUntilSettled = (wall: At, target: string, payment: string): Promise<Response> =>
  sendWhile(503, () => fetchBlock(wall, target, payment))
