/** The tools that sell a block or an area, and the one that previews either purchase. */

import { Type } from '@sinclair/typebox'
import { AreaOrder } from '../../../shared/contract/area-order.ts'
import { ListingQuery } from '../../../shared/contract/block.ts'
import { Closed } from '../../../shared/contract/kinds.ts'
import { Preview, TargetText } from '../../../shared/contract/preview.ts'
import { REPEAT, TRY_AGAIN } from '../../domain/advice.ts'
import { createFailure, isFailure } from '../../domain/failure.ts'
import { isPending } from '../../domain/purchase/charging.ts'
import type { PurchaseOrder } from '../../domain/purchase/listing.ts'
import { readAreaOrder, readListing, readTarget, findUnknownField } from '../../purchase/read-order.ts'
import { findUnpaidRefusal, sell } from '../../purchase/sell.ts'
import { previewBlock as preview } from '../../wall/preview-block.ts'
import { AREA_TOOL, BUYING_TOOL } from '../../x402/bazaar.ts'
import { createPendingResponse, createSettleResponse } from '../../x402/receipt.ts'
import { readArguments, PixelsArgument, describeUnknownArgument } from '../arguments.ts'
import { splitOrderAndHeaders, readPaymentOfCall } from '../payment.ts'
import {
  createDemandReply,
  PAYMENT_RESPONSE_META,
  createPngContent,
  refuse,
  createSuccess,
  type Reply,
} from '../reply.ts'
import { PRICE_OF_BLOCK, READ_ONLY, WRITES, type Call, type McpDeps, type Tool } from '../tool.ts'

const { name, framework, message, link, painter } = ListingQuery.properties

const BlockArguments = Closed({
  coord: TargetText,
  px: Type.Optional(PixelsArgument),
  link,
  name,
  message,
  framework,
  painter,
})

export const buyBlock: Tool = {
  name: BUYING_TOOL,
  title: 'Buy a block',
  description: `Use to buy one block of 10 x 10 pixels, permanently. Without payment it changes nothing and returns code 402 with the x402 v2 terms (accepts): sign them and make the identical call again with the payment payload, an object, at params._meta["x402/payment"]; x402 clients do this. To repaint, use set_pixels; to try, preview_block. Cost: ${PRICE_OF_BLOCK} once, gas paid for you, no refunds. Side effects of a paid call: money moves, the block is yours, picture and text are public. After settlement_unknown, deed_not_persisted, database_unavailable or a lost response: ${REPEAT} After facilitator_unavailable or server_busy: ${TRY_AGAIN} Returns the receipt.`,
  annotations: WRITES,
  sells: 'a block',
  input: BlockArguments,
  async answer(deps, given, call) {
    const { order, headers } = splitOrderAndHeaders(given)
    const { coord, ...said } = readArguments(order)
    const target = readTarget(coord, 1, 1)
    if (isFailure(target)) return refuse(target)
    // Unknown arguments are refused, because otherwise a call with a misspelt px would buy an unpainted block.
    const isKnown = findUnknownField(BlockArguments, said) === undefined
    const listing = isKnown
      ? readListing(said)
      : createFailure('invalid_listing', describeUnknownArgument(BlockArguments))
    return await buy(deps, { target, isArea: false, listing }, call, headers)
  },
}

const { at, w, h, pixels, image, fit, dither, ...texts } = AreaOrder.properties

const AreaArguments = Closed({
  at: {
    ...at,
    description: 'The top left block, `col,row`, or `next`: the open area nearest the centre. Default next.',
  },
  w: { ...w, examples: [4] },
  h: { ...h, examples: [3] },
  pixels: Type.Optional({
    ...pixels,
    description: 'Palette indices, one byte each, in base64: row by row over the whole area. Example: AAEC.',
  }),
  image: Type.Optional({ ...image, description: 'Instead of pixels: a PNG or JPEG in base64. Example: iVBORw0KGgo.' }),
  fit: Type.Optional({ ...fit, description: 'cover cuts, contain adds bars, fill stretches. Default cover.' }),
  dither: Type.Optional({ ...dither, description: 'none for logos, floyd-steinberg for photographs. Default none.' }),
  ...texts,
})

export const buyArea: Tool = {
  name: AREA_TOOL,
  title: 'Buy an area',
  description: `Use to buy a rectangle of w x h blocks in one payment, all or none. For one block, use buy_block, which explains payment. Give pixels, or an image of at most 44 KiB; POST /areas accepts larger ones. Cost: ${PRICE_OF_BLOCK} per block once, no refunds; your spend cap must allow the total. Side effects of a paid call: money moves, the blocks are yours, picture and text are public. After a 502 or 503 send the same signed call again: you never pay twice. Errors list unavailable blocks in taken or held. Returns the receipt.`,
  annotations: WRITES,
  sells: 'an area',
  input: AreaArguments,
  async answer(deps, given, call) {
    const { order: fields, headers } = splitOrderAndHeaders(given)
    const order = readAreaOrder(fields)
    return isFailure(order) ? refuse(order) : await buy(deps, order, call, headers)
  },
}

/** Returns the terms of an order without a payment, or else sells what was ordered. */
async function buy(
  deps: McpDeps,
  order: PurchaseOrder,
  { payment: payload, dialect, ...buyer }: Call,
  headers: object | undefined,
): Promise<Reply> {
  const payment = readPaymentOfCall(payload, headers, deps.offer, order.target)
  if (payment === undefined) {
    const refusal = await findUnpaidRefusal(deps, order)
    return refusal === undefined ? createDemandReply(deps, order, dialect) : refuse(refusal)
  }
  if (isFailure(payment)) return refuse(payment)
  const sold = await sell(deps, order, payment, buyer)
  if (sold.kind === 'sold')
    return createSuccess({ ...sold.receipt }, { [PAYMENT_RESPONSE_META]: createSettleResponse(sold.purchase) })
  if (sold.code === 'payment_required') return createDemandReply(deps, order, dialect, sold)
  return refuse(sold, isPending(sold) ? { [PAYMENT_RESPONSE_META]: createPendingResponse(payment, sold) } : undefined)
}

const { image: _, ...withoutImage } = Preview.properties

const PreviewArguments = Closed({
  ...BlockArguments.properties,
  w: Type.Optional({
    ...w,
    description: 'For an area whose top left block is coord: width in blocks. Default 1.',
    examples: [4],
  }),
  h: Type.Optional({ ...h, description: 'Height in blocks. Default 1.', examples: [3] }),
  pixels: Type.Optional({
    ...pixels,
    description: 'For an area, instead of px: palette indices in base64. Example: AAEC.',
  }),
})

export const previewBlock: Tool = {
  name: 'preview_block',
  title: 'Preview a purchase for free',
  description: `Use before buy_block with the same arguments, or before buy_area with w and h, to see whether the purchase would be accepted, what you would get on which terms, and how it would look. Buys and reserves nothing. Free, no side effects. Returns acceptable, all problems at once, and a PNG of the place.`,
  annotations: READ_ONLY,
  isShown: true,
  budget: 'previews',
  input: PreviewArguments,
  output: Type.Object(withoutImage),
  async answer(deps, given) {
    const { coord, w = 1, h = 1, ...said } = readArguments(given)
    const target = readTarget(coord, w, h)
    if (isFailure(target)) return refuse(target)
    if (findUnknownField(PreviewArguments, said) !== undefined)
      return refuse(createFailure('invalid_body', describeUnknownArgument(PreviewArguments)))
    const { image, ...found } = await preview(deps, target, said)
    return createSuccess(found, undefined, image === null ? [] : [createPngContent(image)])
  },
}
