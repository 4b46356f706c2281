/** Areas as commands take them: a size in blocks, a place, and a picture over all of it. */

import { areaName, areaAt, isAreaSize, type AreaSize } from '../../../shared/area.ts'
import { ASSET_SYMBOL } from '../../../shared/money.ts'
import { parseCoord } from '../../../shared/wall.ts'
import type { Wall } from '../wall.ts'
import { given, LISTING_OPTIONS, MAX_DOLLARS, UsageError, type Call } from './command.ts'
import { fittingIn } from './picture-file.ts'

/** Where an area is, as options. */
export const AREA_OPTIONS = {
  size: 'how many blocks across and down, such as 4x3',
  at: 'the top left block, col,row (the open place nearest the centre)',
} as const

/** What is asked for, with its picture. */
export type AreaCall = AreaSize & { readonly at: string; readonly image: Uint8Array | undefined }

/** The size that `--size` names. */
export function sizeOf(text: string): AreaSize {
  const [, w, h] = /^(\d{1,3})x(\d{1,3})$/.exec(text) ?? []
  const size = { w: Number(w), h: Number(h) }
  if (!isAreaSize(size)) throw new UsageError('--size takes blocks across and down, such as 4x3; at most 400 in all.')
  return size
}

/** What an area is called; `undefined` for `next`, which is nowhere yet. */
export function nameOf({ at, w, h }: Omit<AreaCall, 'image'>): string | undefined {
  if (at === 'next') return undefined
  const block = parseCoord(at)
  if (block === undefined) throw new UsageError('--at takes a block: 0,0 to 159,89.')
  const area = areaAt(block, { w, h })
  if (area === undefined) throw new UsageError(`${w} x ${h} blocks at ${at} reach beyond the wall.`)
  return areaName(area)
}

/** Refuses an area that costs more than may be paid, as the wall says; where it has no room, buying says so. */
export async function refuseCost(
  wall: Wall,
  { w, h }: AreaSize,
  { max = MAX_DOLLARS }: Call['options'],
): Promise<void> {
  const { spaces } = await wall.space({ w, h, limit: 1 })
  const price = spaces[0]?.price
  if (price === undefined || Number(price) <= Number(max)) return
  throw new UsageError(`${w * h} blocks cost ${price} ${ASSET_SYMBOL}. Allow it with --max ${price}.`)
}

/** Buys an area. */
export const purchaseArea = (wall: Wall, options: Call['options'], area: AreaCall) =>
  wall.purchaseArea({ ...area, ...given(options, LISTING_OPTIONS), ...fittingIn(options) })
