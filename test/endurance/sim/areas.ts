/**
 * Areas in histories: which histories have areas, and on which walls. Computes an area's blocks and its nearest open
 * place independently, so that the wall's own arithmetic is not compared with itself.
 */

import type { Target } from '../../../server/domain/purchase/payment.ts'
import { CLAIM_ORDER, COLS, ROWS, type BlockIndex } from '../../../shared/wall.ts'
import type { Prng } from '../../support/prng.ts'

type Size = { readonly w: number; readonly h: number }

/** Whether areas are bought in the history of a seed, in addition to blocks. */
export const sellsAreas = (seed: number): boolean => seed % 9 >= 2 && seed % 9 <= 5

/** A wall so small that the areas on it overlap; the largest area that can fit is 2 by 3 blocks. */
export const createSmallWall = ({ pick }: Prng): readonly BlockIndex[] => CLAIM_ORDER.slice(0, pick([2, 3, 4, 4, 6]))

// The size of a wide wall in blocks, and the sizes of the areas that are ordered on it.
const WIDE: Size = { w: 30, h: 20 }
const WIDE_SIZES: readonly Size[] = [
  { w: 20, h: 20 },
  { w: 20, h: 10 },
  { w: 10, h: 10 },
  { w: 10, h: 4 },
  { w: 7, h: 5 },
]

/** A wall with more blocks than one payer may hold. */
export function createWideWall(): readonly BlockIndex[] {
  const [left, top] = [(COLS - WIDE.w) / 2, (ROWS - WIDE.h) / 2]
  return CLAIM_ORDER.filter((block) => {
    const [col, row] = [block % COLS, Math.floor(block / COLS)]
    return col >= left && col < left + WIDE.w && row >= top && row < top + WIDE.h
  })
}

/** Every area of several blocks that can be ordered on a small wall; on a wide wall, some sizes without a position. */
export function listAreas(wall: readonly BlockIndex[]): readonly Target[] {
  if (wall.length === WIDE.w * WIDE.h) return WIDE_SIZES.map(formatNextTarget)
  return SMALL_SIZES.flatMap((size) => {
    const places = listPlaces(wall, size)
    return places.length === 0 ? [] : [formatNextTarget(size), ...places.map(({ at }) => formatAreaTarget(at, size))]
  })
}

const SMALL_SIZES: readonly Size[] = [
  { w: 2, h: 1 },
  { w: 1, h: 2 },
  { w: 2, h: 2 },
  { w: 1, h: 3 },
  { w: 2, h: 3 },
]

const formatNextTarget = ({ w, h }: Size): Target => `next,${w}x${h}`

const formatAreaTarget = (at: BlockIndex, { w, h }: Size): Target => `${at % COLS},${Math.floor(at / COLS)},${w}x${h}`

/** The width and height of a target in blocks. */
export function parseSize(target: Target): Size {
  if (typeof target === 'number' || target === 'next') return { w: 1, h: 1 }
  const [w, h] = target.slice(target.lastIndexOf(',') + 1).split('x')
  return { w: Number(w), h: Number(h) }
}

/** The number of blocks that a target covers. */
export function countBlocks(target: Target): number {
  const { w, h } = parseSize(target)
  return w * h
}

/** Whether a target asks for the nearest open position. */
export const isNext = (target: Target): boolean => typeof target === 'string' && target.startsWith('next')

/** The blocks of a target that begins at `at`, row by row. */
export const listBlocksFrom = (target: Target, at: BlockIndex): readonly BlockIndex[] =>
  listRectangle(at, parseSize(target))

const listRectangle = (at: number, { w, h }: Size): readonly BlockIndex[] =>
  Array.from({ length: w * h }, (_, i) => (at + (i % w) + Math.floor(i / w) * COLS) as BlockIndex)

type Place = { readonly at: BlockIndex; readonly blocks: readonly BlockIndex[] }

const places = new Map<readonly BlockIndex[], Map<string, readonly Place[]>>()

/**
 * The positions where an area of a size fits on an empty wall, nearest to the centre first, then by the top left block.
 */
export function listPlaces(wall: readonly BlockIndex[], size: Size): readonly Place[] {
  const known = places.get(wall)
  if (known === undefined) places.clear()
  const ofWall = known ?? new Map<string, readonly Place[]>()
  places.set(wall, ofWall)
  const name = `${size.w}x${size.h}`
  const found = ofWall.get(name) ?? findPlaces(wall, size)
  ofWall.set(name, found)
  return found
}

function findPlaces(wall: readonly BlockIndex[], { w, h }: Size): readonly Place[] {
  const all = new Set(wall)
  const measureDistance = ({ at }: Place) =>
    (2 * (at % COLS) + w - COLS) ** 2 + (2 * Math.floor(at / COLS) + h - ROWS) ** 2
  return wall
    .map((at) => ({ at, blocks: listRectangle(at, { w, h }) }))
    .filter(({ blocks }) => blocks.every((block) => all.has(block)))
    .toSorted((one, other) => measureDistance(one) - measureDistance(other) || one.at - other.at)
}

/** The open position nearest to the centre where an area of the target's size fits, if any. */
export const findNearestPlace = (
  wall: readonly BlockIndex[],
  target: Target,
  isTaken: (block: BlockIndex) => boolean,
): BlockIndex | undefined => listPlaces(wall, parseSize(target)).find(({ blocks }) => !blocks.some(isTaken))?.at
