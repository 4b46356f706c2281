/** `/blocks/next` and `/blocks/{coord}`: the shop window, the till and the owner's brush. */

import type { Deed } from '../../shared/contract/block.ts'
import { parseCoord } from '../../shared/wall.ts'
import type { Target } from '../domain/purchase/payment.ts'
import type { Bought } from '../domain/purchase/purchase.ts'
import { invalidCoordinate, unavailability } from '../domain/purchase/refusals.ts'
import { saleOf, type WallView } from '../domain/wall/wall-view.ts'
import type { Blocks } from '../ports.ts'
import type { SellTo } from '../purchase/limited-seller.ts'
import type { Seller } from '../purchase/seller.ts'
import { andThen } from '../wall/and-then.ts'
import { editBlock, type EditDeps } from '../wall/edit-block.ts'
import { deedOf, lookAt, type Found } from '../wall/read-wall.ts'
import { encodeHeader, settleResponse } from '../x402/header.ts'
import { receiptOf } from '../x402/receipt.ts'
import { PAYMENT_RESPONSE_V1, paymentOf, settlementHeaderV1, type Sent } from '../x402/v1.ts'
import { etagOf } from './cached-response.ts'
import { readInTurn, signedBy, type Clients } from './clients.ts'
import { readListingQuery } from './listing.ts'
import { holdsAlready, prefersHtml } from './negotiate.ts'
import { respondNowhere } from './payment-page.ts'
import { demandPaymentInHtml, demands, refuse, refuseTarget, type Demanding, type Till } from './refuse.ts'
import { decodePercent, pathOf, queryOf } from './request-url.ts'
import { NO_STORE, respond, respondUnchanged, respondJson, VARIES_BY_PAYMENT } from './respond.ts'
import type { Methods } from './route.ts'
import { readEdit } from './signed-body.ts'

export const BLOCKS_PREFIX = '/blocks/'

/** What selling and repainting over HTTP need. */
export type BlockDeps = Till & {
  readonly sellTo: SellTo
  readonly seller: Seller
  readonly blocks: Blocks
  readonly view: WallView
  readonly editing: EditDeps
  readonly clients: Clients
  readonly countPaid?: ((version: Sent['version']) => void) | undefined // of each request that carries a payment
}

/** What each verb does on a block. A HEAD never buys, so it has no eye for payments. */
export function blockMethods(deps: BlockDeps): Methods {
  const demand = demands(deps)
  const unpaid = (request: Request, target: Target) =>
    andThen(lookAt(deps, target), (found) => answerUnpaid(deps, demand, request, target, found))
  return {
    GET: (request) => {
      const target = targetOf(request)
      if (target === undefined) return isPerson(request) ? respondNowhere(400) : refuse(invalidCoordinate())
      const sent = paymentOf(request, deps.offer, target)
      return sent === undefined ? unpaid(request, target) : paid(deps, request, target, sent)
    },
    HEAD: (request) => {
      const target = targetOf(request)
      return target === undefined ? refuse(invalidCoordinate()) : unpaid(request, target)
    },
    PUT: signedBy(deps.clients, (request) => repaint(deps, request)),
  }
}

function answerUnpaid(deps: BlockDeps, demand: Demanding, request: Request, target: Target, found: Found): Response {
  if (typeof found === 'object') return isPerson(request) ? respondPlace(found) : respondDeed(request, found)
  if (found === 'claimed') return isPerson(request) ? respondNowhere(410) : refuse(unavailability(target, found))
  // Nobody should sign for a request that will be refused.
  const listing = readListingQuery(request.url)
  if ('code' in listing) return refuse(listing)
  if (found === 'reserved') return refuse(unavailability(target, found))
  // What is held in doubt is offered, so that its own payer can come back with a client that cannot resend.
  const query = queryOf(request.url)
  return isPerson(request) ? demandPaymentInHtml(deps, target, query) : demand(target, query)
}

async function paid(deps: BlockDeps, request: Request, target: Target, { payment, version }: Sent): Promise<Response> {
  deps.countPaid?.(version)
  if ('code' in payment) {
    const found = await lookAt(deps, target)
    return typeof found === 'object' ? respondDeed(request, found) : refuse(payment)
  }
  await deps.clients.queue.paymentTurn()
  const address = deps.clients.addressOf(request)
  const outcome = await deps.sellTo(address, target, payment, readListingQuery(request.url), request.signal)
  if (outcome.kind === 'refused') return refuseTarget(deps, target, outcome.failure, { query: queryOf(request.url) })
  return respondReceipt(deps, outcome, version)
}

async function repaint({ editing, clients }: BlockDeps, request: Request): Promise<Response> {
  const read = await readInTurn(clients, request)
  if ('failure' in read) return refuse(read.failure, { Connection: 'close' })
  const body = readEdit(read.value)
  if ('code' in body) return refuse(body)
  const coord = segmentOf(request) ?? ''
  const block = parseCoord(coord)
  if (block === undefined) return refuse(invalidCoordinate())
  const owned = await editBlock(editing, block, coord, body, clients.addressOf(request))
  if ('code' in owned) return refuse(owned)
  return respondJson(200, { updated: true, deed: deedOf(owned) }, NO_STORE)
}

/** Whether a browser asks for a page, so that a person reads the answer. */
const isPerson = (request: Request) => prefersHtml(request.headers.get('accept'))

/** Leads a person to the block on the wall. */
const respondPlace = ({ block }: Deed) =>
  respond(303, 'text/plain; charset=utf-8', '', {
    Location: `/?block=${block.coord}`,
    'Cache-Control': 'no-cache',
    ...VARIES_BY_PAYMENT,
  })

function respondDeed(request: Request, deed: Deed): Response {
  const body = JSON.stringify(deed)
  const etag = etagOf(body)
  const headers = { 'Cache-Control': 'no-cache', ...VARIES_BY_PAYMENT, ETag: etag }
  if (holdsAlready(request.headers.get('if-none-match'), etag)) return respondUnchanged(headers)
  return respond(200, 'application/json', body, headers)
}

function respondReceipt(
  { view, offer }: BlockDeps,
  { purchase, isEarlier }: Bought,
  version: Sent['version'],
): Response {
  const sale = saleOf(view, purchase.block)
  return respondJson(200, receiptOf({ purchase, sale, isEarlier, baseUrl: offer.baseUrl }), {
    'Cache-Control': 'private, no-store',
    'PAYMENT-RESPONSE': encodeHeader(settleResponse(purchase)),
    ...(version === 1 ? { [PAYMENT_RESPONSE_V1]: settlementHeaderV1(purchase) } : {}),
  })
}

function targetOf(request: Request): Target | undefined {
  const segment = segmentOf(request)
  if (segment === undefined) return undefined
  return segment === 'next' ? 'next' : parseCoord(segment)
}

/** The last part of the path, decoded once; `undefined` when that cannot be done. */
const segmentOf = ({ url }: Request) => decodePercent(pathOf(url).slice(BLOCKS_PREFIX.length))
