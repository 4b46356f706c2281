/** Whether a deed's order is the one that its buyer signed, and whether the sale matches it. */

import type { SaleDeed } from '../../../shared/contract/deeds.ts'
import type { Sale } from '../../../shared/contract/feed.ts'
import { matchesOrder, isOrderNonce, type Order, formatOrderText, formatPictureDigest } from '../../../shared/order.ts'
import { PIXELS_PER_BLOCK, toRowOrder, trustPixels } from '../../../shared/pixels.ts'
import { hashPixels } from '../../../shared/signing.ts'

/** How a payment is bound to its order. */
export type Binding =
  | { readonly kind: 'unbound' }
  | { readonly kind: 'bound' }
  | { readonly kind: 'bound-to-file' } // an image that the wall converted, so the wall determined its colours
  | { readonly kind: 'hidden' } // the operator hides a part of the order, so the nonce cannot be computed again
  | { readonly kind: 'changed'; readonly why: string }

/** Returns how a deed's payment is bound to its order, by recomputing the nonce. */
export function checkBinding({ nonce, salt, order, hidden, blocks, placedElsewhere }: SaleDeed): Binding {
  if (salt === undefined && order === undefined)
    return isOrderNonce(nonce)
      ? createChangedBinding('its nonce is bound to an order, which the deed leaves out')
      : { kind: 'unbound' }
  if (salt === undefined || order === undefined) return createChangedBinding('its order or its salt is left out')
  const isComplete = hidden === undefined && Object.values(order).every((value) => value !== null)
  if (isComplete && !matchesNonce(nonce, order as Order, salt))
    return createChangedBinding('its buyer signed a different order from the one that the deed shows')
  const area = 'coord' in blocks ? `${blocks.coord},1x1` : `${blocks.at},${blocks.w}x${blocks.h}`
  if (!matchesPlace(order.area ?? `${order.block},1x1`, area, placedElsewhere === true))
    return createChangedBinding(`its order was for ${order.area ?? order.block}, but ${area} was sold`)
  if (!isComplete) return { kind: 'hidden' }
  return { kind: order.image === undefined ? 'bound' : 'bound-to-file' }
}

const createChangedBinding = (why: string): Binding => ({ kind: 'changed', why })

function matchesNonce(nonce: string, order: Order, salt: string): boolean {
  try {
    return matchesOrder(nonce, formatOrderText(order), salt)
  } catch {
    return false
  }
}

/** Whether an order for a position may have received `area`. */
function matchesPlace(ordered: string, area: string, isElsewhere: boolean): boolean {
  const [size, soldSize] = [ordered, area].map((name) => name.slice(name.lastIndexOf(',')))
  return size === soldSize && (ordered === area || isElsewhere || ordered.startsWith('next,'))
}

/**
 * The first difference between a bound deed's order and its blocks in the feed; `undefined` if there is none.
 */
export function findSalesFlaw(
  { order, hidden, blocks }: SaleDeed,
  sales: readonly (Sale | undefined)[],
): string | undefined {
  if (order === undefined) return undefined
  const isHidden = (name: string) => hidden?.includes(name) === true
  for (const sale of sales) {
    if (sale === undefined) continue
    if (!isHidden('message') && (sale.m ?? null) !== (order.message ?? null)) return describeDifference('message', sale)
    if (!isHidden('link') && (sale.l ?? null) !== (order.link ?? null)) return describeDifference('link', sale)
  }
  const pictures = sales.flatMap((sale) => (sale?.px === undefined ? [] : [Buffer.from(sale.px, 'base64')]))
  // A payment that settled late may have lost its picture, and an image file was converted by the wall, so neither is
  // compared.
  if (pictures.length === 0 || pictures.length < sales.length || order.image !== undefined) return undefined
  if (isHidden('px') || isHidden('pixels')) return undefined
  const bytes = Buffer.concat(pictures)
  const isSame =
    order.px === undefined ? (order.pixels ?? '') === computeDigest(bytes, blocks) : order.px === bytes.toString('hex')
  return isSame ? undefined : 'the picture in the feed differs from the one in the order'
}

/** The digest of pixels in the format of an order; `undefined` if the number of pixels does not match the blocks. */
function computeDigest(bytes: Uint8Array, blocks: SaleDeed['blocks']): string | undefined {
  const [w, h] = 'coord' in blocks ? [1, 1] : [blocks.w, blocks.h]
  if (bytes.length !== w * h * PIXELS_PER_BLOCK) return undefined
  return formatPictureDigest(hashPixels(toRowOrder(trustPixels(bytes, w * h), w)))
}

const describeDifference = (what: string, { coord }: Sale) =>
  `the ${what} of block ${coord} in the feed differs from the one in the order`
