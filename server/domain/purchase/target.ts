/** What a buyer asks for: a block or an area, by its place or nearest the centre. A block is an area of 1x1. */

import { areaName, areaAt, blocksOf, parseArea, type Area, type AreaName, type AreaSize } from '../../../shared/area.ts'
import { blockAt, coordOf, type BlockIndex } from '../../../shared/wall.ts'

/** An area of several blocks: by its name, or the open one of a size that is nearest the centre. */
export type AreaTarget = AreaName | `next,${number}x${number}`

/** One name for each thing that can be asked for, so that targets are compared as they are. */
export type Target = BlockIndex | 'next' | AreaTarget

/** Where what is asked for is to begin, and its size. */
export type Place = AreaSize & { readonly at: BlockIndex | 'next' }

/** The target of a size at a place. Throws for a size or place that no area has. */
export function targetOf(at: BlockIndex | 'next', { w, h }: AreaSize): Target {
  if (w === 1 && h === 1) return at
  if (at === 'next') return `next,${w}x${h}`
  const area = areaAt(at, { w, h })
  if (area === undefined) throw new RangeError('the area does not lie on the wall')
  return areaName(area)
}

/** What a target asks for. */
export function placeOf(target: Target): Place {
  if (target === 'next' || typeof target === 'number') return { at: target, w: 1, h: 1 }
  const size = sizeIn(target)
  if (target.startsWith(NEXT)) return { at: 'next', ...size }
  const area = parseArea(target)
  const at = area && blockAt(area.col, area.row)
  if (at === undefined) throw new RangeError('a target is named that is none')
  return { at, ...size }
}

const NEXT = 'next,'

function sizeIn(target: AreaTarget): AreaSize {
  const [w, h] = target.slice(target.lastIndexOf(',') + 1).split('x')
  return { w: Number(w), h: Number(h) }
}

/** How many blocks a target has. */
export function blocksIn(target: Target): number {
  const { w, h } = placeOf(target)
  return w * h
}

/** Whether a target is one block. */
export const isBlock = (target: Target): target is BlockIndex | 'next' =>
  target === 'next' || typeof target === 'number'

/** What is held, sold, or was held last for a payment: `block` is its top left one. */
export type Holding = { readonly target: Target; readonly block: BlockIndex }

export function areaOf({ target, block }: Holding): Area {
  const area = areaAt(block, placeOf(target))
  if (area === undefined) throw new RangeError('an area is held that is not on the wall')
  return area
}

/** The blocks of a holding, row by row. */
export const blocksHeld = (holding: Holding): readonly BlockIndex[] =>
  isBlock(holding.target) ? [holding.block] : blocksOf(areaOf(holding))

/** A holding by its place, whatever it was asked for by. */
export const ownTarget = ({ target, block }: Holding): Exclude<Target, 'next'> =>
  isBlock(target) ? block : areaName(areaOf({ target, block }))

/** What a target is called. */
export const nameOf = (target: Target): string => (typeof target === 'number' ? coordOf(target) : target)

/** What a target is, in the words of whoever asks. */
export const kindOf = (target: Target): 'block' | 'area' => (isBlock(target) ? 'block' : 'area')

/** A holding by its place, under `block` or `area`. */
export const namedIn = (holding: Holding): Readonly<Record<string, string>> => ({
  [kindOf(holding.target)]: nameOf(ownTarget(holding)),
})

/** What is held, in words for its payer. */
export const wordsFor = (holding: Holding): string => `${kindOf(holding.target)} ${nameOf(ownTarget(holding))}`
