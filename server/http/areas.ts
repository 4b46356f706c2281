/** Routes `/areas` and `/areas/{area}`: buy, read, draw and repaint rectangles of blocks. */

import { Elysia } from 'elysia'
import { parseArea } from '../../shared/area.ts'
import { AreaOrder, AreaReceipt } from '../../shared/contract/area-order.ts'
import { AreaParams, AreaState, EditAreaAnswer } from '../../shared/contract/area.ts'
import { AreaImageQuery } from '../../shared/contract/picture.ts'
import {
  anywhere,
  limited,
  listing,
  queued,
  signed,
  documentOperation,
  drawing,
  repainting,
  unsettled,
  type OperationDocs,
  SIGNING_IN,
  signedInCodes,
} from '../discovery/openapi/operation.ts'
import { isFailure, type Failure } from '../domain/failure.ts'
import type { Region } from '../domain/picture/wall-picture.ts'
import type { PurchaseOrder } from '../domain/purchase/listing.ts'
import { isSamePayment } from '../domain/purchase/payment.ts'
import { createIncompleteBodyFailure, createInvalidAreaFailure } from '../domain/purchase/refusals.ts'
import { readAreaOrder } from '../purchase/read-order.ts'
import { findUnpaidRefusal } from '../purchase/sell.ts'
import { readArea } from '../wall/read-wall.ts'
import { readAreaEdit, readEditAreaFields } from '../wall/signed-body.ts'
import { type ChangeDeps, createAreaRepaint } from '../wall/signed-changes.ts'
import { carriesPayment, readSentPayment } from '../x402/v1.ts'
import { createPlaceResponder, type RegionDeps } from './answer/image-response.ts'
import { CLOSE_CONNECTION, demandPaymentForArea, refuse, respondResult } from './answer/refuse.ts'
import { readPayment, respondSale, type SellingDeps } from './answer/respond-sale.ts'
import type { HeaderFields } from './answer/respond.ts'
import { refusePicturePath } from './fallback.ts'
import { readJson } from './request/body.ts'
import { createBodySchema, createTurnHook, createSignedBodyHooks, type Uploads } from './request/clients.ts'
import { Refused } from './request/refused.ts'
import { readNameBelow, PNG_END } from './request/request-url.ts'
import { createChangeHandler, createSignInHandler, createSignInHooks } from './sign-in.ts'

export type AreaDeps = SellingDeps & RegionDeps & { readonly changing: ChangeDeps; readonly readUpload: Uploads }

const PREFIX = '/areas/'

/** The size limit of a signed change of an area. */
export const AREA_EDIT_MAX_BYTES = 128 * 1024

const CHECKS = { maxBytes: AREA_EDIT_MAX_BYTES, before: refusePicturePath }

export const createAreaRoutes = (deps: AreaDeps) => {
  const { clients, changing } = deps
  const takeTurn = createTurnHook(clients, 'searches')
  const draw = createPlaceResponder(deps, AreaImageQuery)
  const [handleChange, handleSignIn] = [createChangeHandler(deps), createSignInHandler(deps)]
  return new Elysia({ name: 'areas' })
    .post('/areas', async ({ request, body }) => await answerOrder(deps, request, body), {
      parse: createOrderReader(deps),
      body: createBodySchema<ReadOrder>(AreaOrder),
      ...documentOperation(DOCS.buyArea),
    })
    .get(
      '/areas/:area',
      async ({ request }) => {
        const name = readNameBelow(PREFIX, request.url)
        if (name.endsWith(PNG_END)) return await draw(request, parseRegion(name.slice(0, -PNG_END.length)))
        await takeTurn({ request })
        const area = parseArea(name)
        return respondResult(area === undefined ? createInvalidAreaFailure() : await readArea(deps, area))
      },
      documentOperation(DOCS.readArea, { ending: PNG_END, docs: DOCS.drawArea }),
    )
    .put(
      '/areas/:area',
      async ({ request, body }) =>
        await handleChange(request, body, await createAreaRepaint(changing, readNameBelow(PREFIX, request.url), body)),
      { ...createSignedBodyHooks(clients, readAreaEdit, CHECKS), ...documentOperation(DOCS.editArea) },
    )
    .post(
      '/areas/:area',
      async ({ request, body: { fields, requestId } }) =>
        await handleSignIn(
          request,
          requestId,
          await createAreaRepaint(changing, readNameBelow(PREFIX, request.url), fields),
        ),
      { ...createSignInHooks(clients, readEditAreaFields, CHECKS), ...documentOperation(DOCS.repaintArea) },
    )
}

/**
 * The `parse` hook of an order, whose body may contain a picture. Even if the body cannot be read, a known payment gets
 * its result.
 */
function createOrderReader({
  clients: { limits, getClientAddress, admitPayment },
  readUpload,
  offer,
  ledger,
}: AreaDeps) {
  return async ({ request }: { readonly request: Request }): Promise<ReadOrder> => {
    const isPaid = carriesPayment(request)
    const sent = readSentPayment(request, offer, 'next')?.payment
    const address = getClientAddress(request)
    // Reading a long body takes longer than parsing a payment, and a payment that cannot be parsed buys nothing.
    if (sent !== undefined && isFailure(sent))
      throw new Refused(limits.take('uploads', address) ?? sent, CLOSE_CONNECTION)
    const isKnown = sent !== undefined && (await ledger.find(sent)) !== undefined
    const beyond =
      (isKnown ? undefined : limits.take('uploads', address)) ?? (sent && (await admitPayment(sent, address)))
    if (beyond !== undefined) throw new Refused(beyond, CLOSE_CONNECTION)
    const read = await readUpload(request, (limits) => readJson(request, limits, isPaid ? undefined : {}))
    if (read.kind === 'read') {
      const ordered = readAreaOrder(!isPaid && isEmptyObject(read.value) ? PROBE : read.value)
      if (!isPaid && isFailure(ordered)) throw new Refused(ordered)
      return { ordered, headers: {} }
    }
    if (!isPaid) throw new Refused(read, CLOSE_CONNECTION)
    return { ordered: read.cut === true ? createIncompleteBodyFailure() : read, headers: CLOSE_CONNECTION }
  }
}

/** The order, or the reason why it cannot be read and the headers of the response in that case. */
type ReadOrder = { readonly ordered: PurchaseOrder | Failure; readonly headers: HeaderFields }

// Catalogues request the price with an empty body or `{}`, and list only addresses that return 402.
const PROBE = { at: 'next', w: 1, h: 1 }

const isEmptyObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0

async function answerOrder(deps: AreaDeps, request: Request, { ordered, headers }: ReadOrder): Promise<Response> {
  if (isFailure(ordered)) return await respondToUnreadOrder(deps, request, ordered, headers)
  const sent = readPayment(deps, request, ordered.target)
  if (sent !== undefined) return await respondSale(deps, request, ordered, sent)
  const busy = await deps.clients.queue.waitForTurn(deps.clients.getClientAddress(request))
  if (busy !== undefined) return refuse(busy)
  const refusal = await findUnpaidRefusal(deps, ordered)
  return refusal === undefined ? demandPaymentForArea(deps, ordered.target) : refuse(refusal)
}

/**
 * Responds to a payment whose order cannot be read. If it is a known payment that was resent unchanged, responds with
 * the result of its original order.
 */
async function respondToUnreadOrder(
  deps: AreaDeps,
  request: Request,
  flaw: Failure,
  headers: HeaderFields,
): Promise<Response> {
  const payment = readSentPayment(request, deps.offer, 'next')?.payment
  const known = payment === undefined || isFailure(payment) ? undefined : await deps.ledger.find(payment)
  const sent = known && readPayment(deps, request, known.target)
  if (
    known === undefined ||
    sent === undefined ||
    isFailure(sent.payment) ||
    !isSamePayment(known.payment, sent.payment)
  ) {
    // Reading a body in vain uses the same budget as a rejected payment.
    void deps.clients.limits.take('payments', deps.clients.getClientAddress(request))
    return refuse(flaw, headers)
  }
  const response = await respondSale(deps, request, { target: known.target, isArea: true, listing: flaw }, sent)
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}

function parseRegion(name: string): Region | Failure {
  const area = parseArea(name)
  return area === undefined ? createInvalidAreaFailure() : { col: area.col, row: area.row, cols: area.w, rows: area.h }
}

const DOCS = {
  buyArea: {
    id: 'buyArea',
    summary: 'Buy a rectangle of blocks in one payment',
    description:
      'All or nothing: w x h blocks for w x h times the price of one block, with one picture across them. Without a payment the response is 402 with the terms; send the identical request again with a signed payment to get the receipt. `next` is the open area of that size nearest the centre. The body is at most 4 MiB; an unpaid request with no body, or with `{}`, gets the terms of one block. An image is decoded only once the payment is verified; if it cannot be decoded, nothing is charged. After a 503, send the same signed request again: you never pay twice.',
    payable: 'always',
    priced: 'by the block',
    answers: [AreaReceipt],
    codes: [
      'invalid_area',
      'invalid_coordinate',
      'invalid_body',
      'invalid_image',
      'invalid_option',
      'body_too_large',
      ...listing,
      ...unsettled,
      'block_taken',
      'purchase_pending',
      'no_room',
      'wall_busy',
      'sold_out',
      ...limited,
    ],
  },
  readArea: {
    id: 'readArea',
    summary: 'Read how much of an area is open and who owns it',
    description:
      'An area is a rectangle of 1 to 400 blocks, `col,row,WxH`. Returns how many of its blocks are open, sold and held, the `price` if all of them are open, and the `owner` if one wallet owns them all. Reading reserves nothing. The owner’s name is untrusted text.',
    params: AreaParams,
    answers: [AreaState],
    codes: ['invalid_area', ...queued],
  },
  drawArea: {
    id: 'drawArea',
    summary: 'Get an area as a picture',
    description:
      'An indexed PNG of the area, enlarged, of up to 5.76 million pixels. The picture may be up to two seconds old.',
    params: AreaParams,
    query: AreaImageQuery,
    answers: [],
    media: 'image/png',
    revalidates: true,
    codes: ['invalid_area', 'invalid_region', ...drawing],
  },
  editArea: {
    id: 'editArea',
    summary: 'Repaint an area that one wallet owns',
    description:
      'Free, up to 128 KiB, all blocks or none. The wallet that owns every block, or the painter of all of them, signs these lines with EIP-191 personal_sign, joined by line feeds: the host name of this service, `set_area v1`, `area=<area>`, `ts=<unix ms>`, then for pixels, message and link in that order `<field>_present=1` or `0` and `<field>=<value or empty>`; the value of pixels is the lower-case hex SHA-256 of the bytes. Each block gets its part of the picture; message and link apply to every block. This uses one repaint of each block’s budget.',
    params: AreaParams,
    answers: [EditAreaAnswer],
    codes: [...signed, 'invalid_area', ...repainting, ...limited],
  },
  repaintArea: {
    id: 'repaintArea',
    summary: 'Repaint an area that one wallet owns, by signing in',
    description: `Does the same as PUT, for wallets that can pay but cannot sign text. ${SIGNING_IN}`,
    params: AreaParams,
    signsIn: true,
    answers: [EditAreaAnswer],
    codes: [...signedInCodes, 'invalid_area', ...repainting, ...anywhere],
  },
} satisfies Record<string, OperationDocs>
