/** Orders: the request for each, and the text that its payment is bound to. */

import type { AreaOrder } from '../../shared/contract/area-order.ts'
import type { ListingQuery } from '../../shared/contract/block.ts'
import { formatOrderText, formatPictureDigest, type Order } from '../../shared/order.ts'
import { hashPixels } from '../../shared/signing.ts'
import { formatCoord, parseCoord } from '../../shared/wall.ts'
import type { OrderRequest } from './signed-payments.ts'
import { WallError } from './wall-error.ts'

/** An order: its request, and the text that its payment is bound to. */
export type OrderToPay = OrderRequest & {
  readonly text: string // see `shared/order.ts`
  readonly blocks: number
  readonly place?: string // the ordered area, `col,row,WxH`; none for `next`
}

/** The listing of an area; its picture is separate, as palette indices row by row. */
export type AreaListing = Omit<AreaOrder, 'image' | 'pixels' | 'fit' | 'dither'>

/** Makes the order of one block, `col,row` or `next`. `at` builds a URL of the wall from a path and a query. */
export function createBlockOrder(
  at: (path: string, query: ListingQuery) => URL,
  target: string,
  { px, ...listing }: ListingQuery,
): OrderToPay {
  const block = toCanonicalTarget(target)
  const url = at(`/blocks/${target}`, px === undefined ? listing : { ...listing, px })
  const text = formatBoundText({
    host: url.hostname,
    block,
    ...pickListing(listing),
    ...omitUndefined('px', px?.toLowerCase()),
  })
  return { url: url.href, text, blocks: 1, ...(block === 'next' ? {} : { place: `${block},1x1` }) }
}

/** Makes the order of a rectangle of blocks, all or none. */
export function createAreaOrder(url: URL, listing: AreaListing, rows: Uint8Array | undefined): OrderToPay {
  const { at = 'next', w, h } = listing
  const corner = toCanonicalTarget(at)
  const area = `${corner},${w}x${h}`
  const digest = rows && formatPictureDigest(hashPixels(rows))
  const text = formatBoundText({
    host: url.hostname,
    area,
    ...pickListing(listing),
    ...omitUndefined('pixels', digest),
  })
  const body = JSON.stringify({ ...listing, pixels: rows && Buffer.from(rows).toString('base64') })
  return { url: url.href, body, text, blocks: w * h, ...(corner === 'next' ? {} : { place: area }) }
}

/**
 * A position as the wall writes it, so that `07,3` is bound as `7,3`. An invalid position is returned as it is, and the
 * wall rejects it.
 */
function toCanonicalTarget(target: string): string {
  const block = parseCoord(target)
  return block === undefined ? target : formatCoord(block)
}

const pickListing = ({ name, framework, message, link, painter }: Omit<ListingQuery, 'px'>): Partial<Order> => ({
  ...omitUndefined('name', name),
  ...omitUndefined('framework', framework),
  ...omitUndefined('message', message),
  ...omitUndefined('link', link),
  ...omitUndefined('painter', painter?.toLowerCase()),
})

const omitUndefined = <Name extends keyof Order>(name: Name, value: string | undefined): Partial<Order> =>
  value === undefined ? {} : { [name]: value }

/** The text that an order's payment is bound to. Throws if a field contains a line break, which no wall accepts. */
function formatBoundText(order: Order): string {
  try {
    return formatOrderText(order)
  } catch {
    const message = 'Name, framework, message and link must be one line each. Nothing was paid.'
    throw new WallError({ kind: 'refused', code: 'invalid_listing', message })
  }
}
