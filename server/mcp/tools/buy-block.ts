/** buy_block: sells a block. */

import { REPEAT, TRY_AGAIN } from '../../domain/advice.ts'
import { failure, type Failure } from '../../domain/failure.ts'
import { readListing, type Listing } from '../../domain/purchase/listing.ts'
import type { Target } from '../../domain/purchase/payment.ts'
import { unavailability } from '../../domain/purchase/refusals.ts'
import { saleOf } from '../../domain/wall/wall-view.ts'
import { lookAt } from '../../wall/read-wall.ts'
import { BUYING_TOOL } from '../../x402/bazaar.ts'
import { settleResponse } from '../../x402/header.ts'
import { readPayment } from '../../x402/payload.ts'
import { receiptOf } from '../../x402/receipt.ts'
import { unknownArgument } from '../arguments.ts'
import { OrderArguments, readOrder, type Order } from '../buy-arguments.ts'
import { demand, refuse, succeed, type Dialect, type Reply } from '../reply.ts'
import { PRICE_OF_BLOCK, WRITES, type McpDeps, type Tool } from '../tool.ts'

export const buyBlock: Tool = {
  name: BUYING_TOOL,
  title: 'Buy a block',
  description: `Use to buy one block of 10 x 10 pixels, for ever, for ${PRICE_OF_BLOCK}. Call without payment: nothing happens but an answer with code 402 and the x402 v2 terms (accepts). Sign them and make the identical call again with the payment payload as an object at params._meta["x402/payment"]; x402 clients do this by themselves. Not to repaint (set_pixels) and not to try (preview_block). Cost: ${PRICE_OF_BLOCK} once, gas paid for you, no refunds. Side effects of a paid call: money moves, the block is yours, picture and texts are public. After settlement_unknown, deed_not_persisted, database_unavailable or a lost answer: ${REPEAT} After facilitator_unavailable or server_busy: ${TRY_AGAIN} Errors: payment_required, invalid_coordinate, invalid_listing, invalid_pixels, invalid_painter, invalid_payment, payment_used, block_taken, purchase_pending, wall_busy, sold_out, payment_credited, payment_unmatched, too_many_requests, database_unavailable. Returns the receipt {block, owner, pixels, deed}, and the settlement in _meta["x402/payment-response"].`,
  annotations: WRITES,
  sells: 'a block',
  input: OrderArguments,
  async answer(deps, given, { payment: payload, dialect, address, signal }) {
    const order = readOrder(given)
    if ('code' in order) return refuse(order)
    const { target } = order
    const listing = listingOf(order)
    if (payload === undefined) return await quote(deps, target, listing, dialect)
    const payment = readPayment(payload)
    if ('code' in payment) return refuse(payment)
    const outcome = await deps.sellTo(address, target, payment, listing, signal)
    if (outcome.kind === 'bought') {
      const { purchase, isEarlier } = outcome
      const sale = saleOf(deps.view, purchase.block)
      return succeed(receiptOf({ purchase, sale, isEarlier, baseUrl: deps.offer.baseUrl }), {
        'x402/payment-response': settleResponse(purchase),
      })
    }
    const { failure: refusal } = outcome
    return refusal.code === 'payment_required' ? demand(deps, target, dialect, refusal) : refuse(refusal)
  },
}

/** The answer to a call without payment. */
async function quote(deps: McpDeps, target: Target, listing: Listing | Failure, dialect: Dialect): Promise<Reply> {
  const found = await lookAt(deps, target)
  if (typeof found === 'object' || found === 'claimed') return refuse(unavailability(target, 'claimed'))
  // Nobody should sign for a call that will be refused.
  if ('code' in listing) return refuse(listing)
  return found === 'reserved' ? refuse(unavailability(target, found)) : demand(deps, target, dialect)
}

/** A listing that is refused stays a value: it must not hide what became of a payment known already. */
const listingOf = ({ said, hasStrangers }: Order): Listing | Failure =>
  hasStrangers ? failure('invalid_listing', unknownArgument(OrderArguments)) : readListing(said)
