/** buy_area: a picture in one payment. */

import { Type } from '@sinclair/typebox'
import { AreaOrder } from '../../../shared/contract/area-order.ts'
import { salesOf } from '../../domain/wall/wall-view.ts'
import { readAreaOrder } from '../../purchase/area-order.ts'
import { namingBlocks, refusalOfArea } from '../../purchase/offer-area.ts'
import { AREA_TOOL } from '../../x402/bazaar.ts'
import { settleResponse } from '../../x402/header.ts'
import { readPayment } from '../../x402/payload.ts'
import { areaReceiptOf } from '../../x402/receipt.ts'
import { Arguments } from '../arguments.ts'
import { demand, refuse, succeed } from '../reply.ts'
import { PRICE_OF_BLOCK, WRITES, type Tool } from '../tool.ts'

const { at, w, h, pixels, image, fit, dither, ...texts } = AreaOrder.properties

const AreaArguments = Arguments({
  at: {
    ...at,
    description: 'The top left block, `col,row`, or `next`: the open place nearest the centre. Default next.',
  },
  w: { ...w, examples: [4] },
  h: { ...h, examples: [3] },
  pixels: Type.Optional({
    ...pixels,
    description: 'Palette indices, a byte each, in base64: row by row over the whole area. Example: AAEC.',
  }),
  image: Type.Optional({ ...image, description: 'Instead of pixels: a PNG or JPEG in base64. Example: iVBORw0KGgo.' }),
  fit: Type.Optional({ ...fit, description: 'cover cuts, contain adds bars, fill stretches. Default cover.' }),
  dither: Type.Optional({ ...dither, description: 'none for logos, floyd-steinberg for photographs. Default none.' }),
  ...texts,
})

export const buyArea: Tool = {
  name: AREA_TOOL,
  title: 'Buy an area',
  description: `Use to buy a rectangle of w x h blocks in one payment: all or none. Not for one block (buy_block, which explains how to pay). Without payment: code 402 and the terms. pixels or an image of at most 44 KiB; POST /areas takes larger ones. Cost: ${PRICE_OF_BLOCK} a block once, no refunds; your spend cap must allow all of it. Side effects of a paid call: money moves, the blocks are yours, picture and texts are public. After a 502 or 503 send the same signed call again: it never pays twice. Errors: payment_required, invalid_area, invalid_coordinate, invalid_body, invalid_listing, invalid_pixels, invalid_image, invalid_option, invalid_painter, invalid_payment, payment_used, block_taken (lists what is taken), purchase_pending (lists what is held), no_room, wall_busy, sold_out, payment_credited, payment_unmatched, too_many_requests, database_unavailable. Returns the receipt {area, blocks, owner, pixels, deed}.`,
  annotations: WRITES,
  sells: 'an area',
  input: AreaArguments,
  async answer(deps, given, { payment: payload, dialect, address, signal }) {
    const ordered = readAreaOrder(given ?? {})
    if ('code' in ordered) return refuse(ordered)
    const { target, listing } = ordered
    if (payload === undefined) {
      // Nobody should sign for a call that will be refused.
      if ('code' in listing) return refuse(listing)
      const refusal = await refusalOfArea(deps, target)
      return refusal === undefined ? demand(deps, target, dialect, undefined, true) : refuse(refusal)
    }
    const payment = readPayment(payload)
    if ('code' in payment) return refuse(payment)
    const outcome = await deps.sellTo(address, target, payment, listing, signal)
    if (outcome.kind === 'bought') {
      const { purchase, isEarlier } = outcome
      const sales = salesOf(deps.view, purchase)
      return succeed(areaReceiptOf({ purchase, sales, isEarlier, baseUrl: deps.offer.baseUrl }), {
        'x402/payment-response': settleResponse(purchase),
      })
    }
    const refusal = await namingBlocks(deps.ledger, target, outcome.failure)
    return refusal.code === 'payment_required' ? demand(deps, target, dialect, refusal, true) : refuse(refusal)
  },
}
