/** Sells over HTTP: reads the payment of a request, and returns the receipt or the refusal. */

import { isFailure } from '../../domain/failure.ts'
import { isPending } from '../../domain/purchase/charging.ts'
import type { PurchaseOrder } from '../../domain/purchase/listing.ts'
import { sell, type SaleDeps } from '../../purchase/sell.ts'
import { createPendingResponse, createSettleResponse } from '../../x402/receipt.ts'
import { readSentPayment, createSettlementHeaders, type SentPayment } from '../../x402/v1.ts'
import type { Clients } from '../request/clients.ts'
import { getQuery } from '../request/request-url.ts'
import { refuse, refuseTarget, type DemandDeps } from './refuse.ts'
import { respondJson } from './respond.ts'

export type SellingDeps = DemandDeps &
  SaleDeps & {
    readonly clients: Clients
    /** Called for each request with a payment. */
    readonly countPaid?: ((version: SentPayment['version']) => void) | undefined
  }

/** The payment of a request for a target; `undefined` if there is none. */
export function readPayment(
  { offer, countPaid }: SellingDeps,
  request: Request,
  target: PurchaseOrder['target'],
): SentPayment | undefined {
  const sent = readSentPayment(request, offer, target)
  if (sent !== undefined) countPaid?.(sent.version)
  return sent
}

/** Responds to a request with an admitted payment: with the receipt and the x402 settlement, or with the refusal. */
export async function respondSale(
  deps: SellingDeps,
  request: Request,
  order: PurchaseOrder,
  { payment, version }: SentPayment,
): Promise<Response> {
  if (isFailure(payment)) return refuse(payment)
  const buyer = { address: deps.clients.getClientAddress(request), signal: request.signal }
  const sold = await sell(deps, order, payment, buyer)
  if (sold.kind === 'failure' && isPending(sold))
    return refuse(sold, createSettlementHeaders(createPendingResponse(payment, sold), version))
  if (sold.kind === 'failure')
    return refuseTarget(deps, order.target, sold, order.isArea ? { isArea: true } : { query: getQuery(request.url) })
  return respondJson(200, sold.receipt, {
    'Cache-Control': 'private, no-store',
    ...createSettlementHeaders(createSettleResponse(sold.purchase), version),
  })
}
