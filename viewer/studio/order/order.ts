/** Creates the order that buys or repaints the area of a picture. Pure. */

import { formatArea, type AreaName } from '../../../shared/area.ts'
import type { AreaOrder } from '../../../shared/contract/area-order.ts'
import { ASSET_SYMBOL } from '../../../shared/money.ts'
import { formatAreaMessage, hashPixels } from '../../../shared/signing.ts'
import { getArea, findFinishedPicture, type Sketch, type Words } from '../sketch.ts'
import { chooseDeal, formatTotal } from './cost-summary.ts'

/** An order that buys an area with its picture, in one payment. */
export type BuyOrder = {
  readonly kind: 'buy'
  readonly wall: string // the service's origin
  readonly area: AreaName
  readonly blocks: number
  readonly price: string // of the whole area, in dollars with cents
  readonly perBlock: string
  readonly asset: string
  readonly network: string
  readonly url: string
  readonly body: AreaOrder // body of the POST, and the arguments of the tool `buy_area`
}

/** An order that repaints an area of one wallet. Its body still needs `ts` and `signature`. */
export type RepaintOrder = {
  readonly kind: 'repaint'
  readonly wall: string
  readonly area: AreaName
  readonly blocks: number
  readonly url: string
  readonly body: RepaintFields // body of the PUT, and with `area` the arguments of the tool `set_area`
}

export type StudioOrder = BuyOrder | RepaintOrder

/** The new content of an area; a field that is omitted stays unchanged. */
export type RepaintFields = { readonly pixels: string; readonly message?: string; readonly link?: string }

/**
 * The order for a sketch; `undefined` until its picture is painted, or if its whole area can be neither bought nor
 * repainted.
 */
export function createOrder(sketch: Sketch, wall: string): StudioOrder | undefined {
  const painted = findFinishedPicture(sketch)
  const area = getArea(sketch)
  const deal = chooseDeal(sketch)
  if (sketch.wall === undefined || painted === undefined || deal === 'neither') return undefined
  const { name } = sketch.words
  const body = { pixels: painted.indices.toBase64(), ...omitEmptyWords(sketch.words) }
  const order = { wall, area: formatArea(area), blocks: area.w * area.h }
  if (deal === 'repaint') return { kind: 'repaint', ...order, url: `${wall}/areas/${order.area}`, body }
  const { col, row, w, h } = area
  return {
    kind: 'buy',
    ...order,
    price: formatTotal(sketch.wall, order.blocks),
    perBlock: formatTotal(sketch.wall, 1),
    asset: ASSET_SYMBOL,
    network: sketch.wall.pricing.network,
    url: `${wall}/areas`,
    body: { at: `${col},${row}`, w, h, ...(name === '' ? {} : { name }), ...body },
  }
}

/** The terms as text: the total price, the asset and the network. */
export const formatSum = ({ price, asset, network }: BuyOrder): string => `${price} ${asset} on ${network}`

/** The text that the owner signs for a repaint; `ts` is the time in Unix milliseconds. */
export function formatSignedText(
  { area, body }: Pick<RepaintOrder, 'area' | 'body'>,
  host: string,
  ts: number,
): string {
  return formatAreaMessage(host, area, ts, { ...body, pixels: hashPixels(Uint8Array.fromBase64(body.pixels)) })
}

const omitEmptyWords = ({ message, link }: Words) => ({
  ...(message === '' ? {} : { message }),
  ...(link === '' ? {} : { link }),
})
