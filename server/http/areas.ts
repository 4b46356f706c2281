/** `/areas`: rectangles of blocks, sold whole. */

import type { Bought } from '../domain/purchase/purchase.ts'
import { salesOf, type WallView } from '../domain/wall/wall-view.ts'
import { readAreaOrder, type OrderedArea } from '../purchase/area-order.ts'
import type { SellTo } from '../purchase/limited-seller.ts'
import { namingBlocks, refusalOfArea, type Offering } from '../purchase/offer-area.ts'
import { encodeHeader, settleResponse } from '../x402/header.ts'
import { areaReceiptOf } from '../x402/receipt.ts'
import { AREAS_PATH } from '../x402/terms.ts'
import { carriesPayment, PAYMENT_RESPONSE_V1, paymentOf, settlementHeaderV1, type Sent } from '../x402/v1.ts'
import { readJson } from './body.ts'
import { refuseBeyond, type Clients } from './clients.ts'
import { demandForArea, refuse, refuseTarget, type Till } from './refuse.ts'
import { respondJson } from './respond.ts'
import type { Handler, Route } from './route.ts'
import { UPLOAD, type Uploads } from './uploads.ts'

/** What selling areas over HTTP needs. */
export type AreaDeps = Till &
  Offering & {
    readonly sellTo: SellTo
    readonly view: WallView
    readonly clients: Clients
    readonly uploads: Uploads
    readonly countPaid?: ((version: Sent['version']) => void) | undefined // of each request that carries a payment
  }

/** The route that sells. */
export const areaRoutes = (deps: AreaDeps): Route[] => [{ path: AREAS_PATH, methods: { POST: order(deps) } }]

function order(deps: AreaDeps): Handler {
  const { clients, uploads } = deps
  return async (request) => {
    // A payment the ledger knows is never turned away, and what a new one may ask for is seen to where it is sold.
    const beyond = carriesPayment(request) ? undefined : refuseBeyond(clients, 'uploads', request)
    if (beyond !== undefined) return beyond
    const read = await uploads(request, () => readJson(request, UPLOAD))
    if ('code' in read) return refuse(read, UNREAD)
    if ('failure' in read) return refuse(read.failure, UNREAD)
    const ordered = readAreaOrder(read.value)
    if ('code' in ordered) return refuse(ordered)
    const sent = paymentOf(request, deps.offer, ordered.target)
    return sent === undefined ? await unpaid(deps, ordered) : await paid(deps, request, ordered, sent)
  }
}

// A connection on which a body was not read cannot go on.
const UNREAD = { Connection: 'close' }

async function unpaid(deps: AreaDeps, { target, listing }: OrderedArea): Promise<Response> {
  const busy = await deps.clients.queue.turn()
  if (busy !== undefined) return refuse(busy)
  // Nobody should sign for a request that will be refused.
  if ('code' in listing) return refuse(listing)
  const refusal = await refusalOfArea(deps, target)
  return refusal === undefined ? demandForArea(deps, target) : refuse(refusal)
}

async function paid(
  deps: AreaDeps,
  request: Request,
  { target, listing }: OrderedArea,
  { payment, version }: Sent,
): Promise<Response> {
  deps.countPaid?.(version)
  if ('code' in payment) return refuse(payment)
  await deps.clients.queue.paymentTurn()
  const outcome = await deps.sellTo(deps.clients.addressOf(request), target, payment, listing, request.signal)
  if (outcome.kind === 'bought') return respondReceipt(deps, outcome, version)
  return refuseTarget(deps, target, await namingBlocks(deps.ledger, target, outcome.failure), { isArea: true })
}

function respondReceipt(
  { view, offer }: AreaDeps,
  { purchase, isEarlier }: Bought,
  version: Sent['version'],
): Response {
  const sales = salesOf(view, purchase)
  return respondJson(200, areaReceiptOf({ purchase, sales, isEarlier, baseUrl: offer.baseUrl }), {
    'Cache-Control': 'private, no-store',
    'PAYMENT-RESPONSE': encodeHeader(settleResponse(purchase)),
    ...(version === 1 ? { [PAYMENT_RESPONSE_V1]: settlementHeaderV1(purchase) } : {}),
  })
}
