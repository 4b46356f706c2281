/** Whether a payment was signed for exactly the order that came with it, over HTTP and MCP alike. */

import { matchesOrder, isOrderNonce, type Order, formatOrderText, formatPictureDigest } from '../../shared/order.ts'
import { toRowOrder } from '../../shared/pixels.ts'
import { isFailure } from '../domain/failure.ts'
import type { Draft, PurchaseOrder } from '../domain/purchase/listing.ts'
import type { Hash, Payment } from '../domain/purchase/payment.ts'
import { isBlock, formatTarget, getPosition, type Target } from '../domain/purchase/target.ts'

/**
 * The payment with the result of comparing its nonce with the order. A nonce that is marked as bound must fit the
 * order, so that nobody can strip the salt. A salt that is sent must fit too. An invalid listing has no text, so nobody
 * can have signed for it.
 */
export function addBinding(payment: Payment, { target, isArea, listing }: PurchaseOrder, host: string): Payment {
  const { nonce, salt } = payment
  if (salt === undefined && !isOrderNonce(nonce)) return payment
  if (salt === undefined || isFailure(listing)) return { ...payment, binding: 'mismatch' }
  const text = formatOrderText(toOrder(target, isArea, listing, host))
  if (!matchesOrder(nonce, text, salt)) return { ...payment, binding: 'mismatch' }
  return { ...payment, binding: { text, salt: salt.toLowerCase() as Hash } }
}

/** The order, as its buyer sent it. */
export function toOrder(target: Target, isArea: boolean, listing: Draft, host: string): Order {
  const { name, framework, message, link, painter } = listing
  const texts = Object.entries({ name, framework, message, link, painter }).filter(([, text]) => text !== null)
  return {
    host,
    ...toPlaceField(target, isArea),
    ...Object.fromEntries(texts),
    ...toPictureField(target, isArea, listing),
  }
}

/** An area of one block is still an area if it was ordered as an area. */
const toPlaceField = (target: Target, isArea: boolean): Pick<Order, 'block' | 'area'> =>
  isArea
    ? { area: isBlock(target) ? `${formatTarget(target)},1x1` : formatTarget(target) }
    : { block: formatTarget(target) }

function toPictureField(
  target: Target,
  isArea: boolean,
  { pixels, picture }: Draft,
): Pick<Order, 'px' | 'pixels' | 'image'> {
  if (picture !== undefined) {
    const { sent, plan } = picture
    return { image: `${computeDigest(sent.bytes)},${plan.fit},${plan.dither}` }
  }
  if (pixels === null) return {}
  return isArea ? { pixels: computeDigest(toRowOrder(pixels, getPosition(target).w)) } : { px: pixels.toHex() }
}

const computeDigest = (bytes: Uint8Array): string =>
  formatPictureDigest(new Bun.CryptoHasher('sha256').update(bytes).digest('hex'))
