/** Finds rectangles of open blocks. */

import type { AreaSize } from '../../../shared/area.ts'
import {
  ALL_BLOCKS,
  blockAt,
  cellOf,
  CLAIM_ORDER,
  COLS,
  ROWS,
  TOTAL_BLOCKS,
  type BlockIndex,
} from '../../../shared/wall.ts'

/** A rectangle of blocks, by its top left one. */
export type Rectangle = { readonly at: BlockIndex; readonly w: number; readonly h: number }

/** What is looked for; `near` is a block, or the wall's centre when it is not given. */
export type SpaceWish = {
  readonly w: number
  readonly h: number
  readonly near: BlockIndex | undefined
  readonly limit: number
}

// The wall's centre in half blocks, from the middle of the first block.
const CENTRE = { x: COLS - 1, y: ROWS - 1 }

/** Which blocks are taken, ready for many searches: at (col, row), how many above and to the left of it are. */
export type Occupancy = Uint16Array<ArrayBuffer>

/** Counts what is taken, once for all searches: any rectangle's count is then four of these. */
export function occupancyOf(isTaken: (block: BlockIndex) => boolean): Occupancy {
  const sums = new Uint16Array((COLS + 1) * (ROWS + 1))
  for (const block of ALL_BLOCKS) {
    const { col, row } = cellOf(block)
    const own = isTaken(block) ? 1 : 0
    sums[(row + 1) * (COLS + 1) + col + 1] =
      own + sumAt(sums, col, row + 1) + sumAt(sums, col + 1, row) - sumAt(sums, col, row)
  }
  return sums
}

/** At most `limit` open rectangles that share no block, nearest first; ties by the index of the top left block. */
export function openSpaces(occupancy: Occupancy, { w, h, near, limit }: SpaceWish): Rectangle[] {
  const distances = openPlaces(occupancy, w, h, near === undefined ? CENTRE : halves(near))
  const found: Rectangle[] = []
  while (found.length < limit) {
    const at = ALL_BLOCKS[leastOf(distances)]
    if (at === undefined) break
    found.push({ at, w, h })
    leaveOutAround(distances, at, w, h)
  }
  return found
}

/** What each block is, in its order, a letter each: open, reserved, claimed, or `x` for one that cannot be had. */
export type BlockStates = string

/** The top left block of the open area of a size that is nearest the wall's centre, or why there is none. */
export function nearestArea(states: BlockStates, size: AreaSize): BlockIndex | 'reserved' | 'claimed' | 'crowded' {
  const find = (isTaken: (block: BlockIndex) => boolean) =>
    openSpaces(occupancyOf(isTaken), { ...size, near: undefined, limit: 1 })[0]?.at
  const open = find((block) => states[block] !== 'o')
  if (open !== undefined) return open
  if (!states.includes('o') && !states.includes('r')) return 'claimed'
  return find((block) => states[block] !== 'o' && states[block] !== 'r') === undefined ? 'crowded' : 'reserved'
}

/** The blocks of a rectangle in the order to buy them: the wall's most wanted first, ties by index. */
export function buyingOrder({ at, w, h }: Rectangle): BlockIndex[] {
  const { col, row } = cellOf(at)
  const ranks = Uint16Array.from({ length: w * h }, (_, i) => {
    const block = blockAt(col + (i % w), row + Math.floor(i / w))
    return block === undefined ? TOTAL_BLOCKS : (claimRank[block] ?? TOTAL_BLOCKS)
  })
  return [...ranks.sort()].map((rank) => CLAIM_ORDER[rank]).filter((block) => block !== undefined)
}

// The place of each block in the order of sale, so that blocks are sorted as bare numbers.
const claimRank = new Uint16Array(TOTAL_BLOCKS)
for (const [rank, block] of CLAIM_ORDER.entries()) claimRank[block] = rank

// At places that are not open, or not any more.
const NOWHERE = 0xffffffff

/**
 * For each block that an open rectangle can have as its top left one, the squared distance of the rectangle's centre to
 * the goal, in half blocks: an integer, so that ties are exact. Bare numbers, because the whole wall is gone through.
 */
function openPlaces(sums: Occupancy, w: number, h: number, goal: { readonly x: number; readonly y: number }) {
  const distances = new Uint32Array(TOTAL_BLOCKS).fill(NOWHERE)
  for (let row = 0; row + h <= ROWS; row++) {
    const dy = (2 * row + h - 1 - goal.y) ** 2
    for (let col = 0; col + w <= COLS; col++) {
      const [top, bottom] = [row * (COLS + 1) + col, (row + h) * (COLS + 1) + col]
      const taken = (sums[bottom + w] ?? 0) - (sums[bottom] ?? 0) - (sums[top + w] ?? 0) + (sums[top] ?? 0)
      if (taken === 0) distances[row * COLS + col] = (2 * col + w - 1 - goal.x) ** 2 + dy
    }
  }
  return distances
}

/** The first place of the least distance; -1 when there is none left. */
function leastOf(distances: Uint32Array): number {
  let [at, least] = [-1, NOWHERE]
  for (let i = 0; i < distances.length; i++) {
    const distance = distances[i] ?? NOWHERE
    if (distance < least) [at, least] = [i, distance]
  }
  return at
}

/** Takes out the places whose rectangle would share a block with the one at `at`. */
function leaveOutAround(distances: Uint32Array, at: BlockIndex, w: number, h: number): void {
  const { col, row } = cellOf(at)
  const [left, right] = [Math.max(0, col - w + 1), Math.min(COLS, col + w)]
  for (let y = Math.max(0, row - h + 1); y < Math.min(ROWS, row + h); y++)
    distances.fill(NOWHERE, y * COLS + left, y * COLS + right)
}

const sumAt = (sums: Occupancy, col: number, row: number) => sums[row * (COLS + 1) + col] ?? 0

function halves(block: BlockIndex): { readonly x: number; readonly y: number } {
  const { col, row } = cellOf(block)
  return { x: 2 * col, y: 2 * row }
}
