/** Targets of a purchase: a block or an area, at a given position or nearest the centre. A block is an area of 1x1. */

import {
  formatArea,
  placeArea,
  listAreaBlocks,
  parseArea,
  type Area,
  type AreaName,
  type AreaSize,
} from '../../../shared/area.ts'
import { getBlockAt, formatCoord, type BlockIndex } from '../../../shared/wall.ts'

/** An area of several blocks: a named one, or the open one of a given size that is nearest the centre. */
export type AreaTarget = AreaName | `next,${number}x${number}`

/** A target. Each target has one canonical form, so targets can be compared with `===`. */
export type Target = BlockIndex | 'next' | AreaTarget

/** The first block of a target, or `next`, and the target's size. */
export type TargetPosition = AreaSize & { readonly at: BlockIndex | 'next' }

/** The target with the given position and size. Throws if the area does not lie on the wall. */
export function createTarget(at: BlockIndex | 'next', { w, h }: AreaSize): Target {
  if (w === 1 && h === 1) return at
  if (at === 'next') return `next,${w}x${h}`
  const area = placeArea(at, { w, h })
  if (area === undefined) throw new RangeError('the area does not lie on the wall')
  return formatArea(area)
}

/** The position and size of a target. */
export function getPosition(target: Target): TargetPosition {
  if (target === 'next' || typeof target === 'number') return { at: target, w: 1, h: 1 }
  const size = parseSize(target)
  if (target.startsWith(NEXT)) return { at: 'next', ...size }
  const area = parseArea(target)
  const at = area && getBlockAt(area.col, area.row)
  if (at === undefined) throw new RangeError('the target is not valid')
  return { at, ...size }
}

const NEXT = 'next,'

function parseSize(target: AreaTarget): AreaSize {
  const [w, h] = target.slice(target.lastIndexOf(',') + 1).split('x')
  return { w: Number(w), h: Number(h) }
}

/** The number of blocks in a target. */
export function countBlocks(target: Target): number {
  const { w, h } = getPosition(target)
  return w * h
}

/** Whether a target is one block. */
export const isBlock = (target: Target): target is BlockIndex | 'next' =>
  target === 'next' || typeof target === 'number'

/** The blocks that are held or sold for a payment, or that were last held for it. `block` is the top left one. */
export type Holding = { readonly target: Target; readonly block: BlockIndex }

/** A holding as an area. */
export function getArea({ target, block }: Holding): Area {
  const area = placeArea(block, getPosition(target))
  if (area === undefined) throw new RangeError('the held area is not on the wall')
  return area
}

/** The blocks of a holding, row by row. */
export const listHeldBlocks = (holding: Holding): readonly BlockIndex[] =>
  isBlock(holding.target) ? [holding.block] : listAreaBlocks(getArea(holding))

/** The target that names a holding by its position, even if it was requested as `next`. */
export const resolveTarget = ({ target, block }: Holding): Exclude<Target, 'next'> =>
  isBlock(target) ? block : formatArea(getArea({ target, block }))

/** The name of a target, such as `80,45`, `next` or `80,45,4x3`. */
export const formatTarget = (target: Target): string => (typeof target === 'number' ? formatCoord(target) : target)

/** Whether a target is called a block or an area in messages. */
export const getKind = (target: Target): 'block' | 'area' => (isBlock(target) ? 'block' : 'area')

/** The name of a holding as a field of a response: `{ block: '80,45' }` or `{ area: '80,45,4x3' }`. */
export const toNameField = (holding: Holding): Readonly<Record<string, string>> => ({
  [getKind(holding.target)]: formatTarget(resolveTarget(holding)),
})

/** A holding as text for its payer, such as `block 80,45`. */
export const describeHolding = (holding: Holding): string =>
  `${getKind(holding.target)} ${formatTarget(resolveTarget(holding))}`
