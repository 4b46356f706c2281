/** Finds rectangles of open blocks. */

import { ALL_BLOCKS, blockAt, cellOf, centreDistance, COLS, ROWS, type BlockIndex } from '../../shared/wall.ts'

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

/** At most `limit` open rectangles that share no block, nearest first; ties by the index of the top left block. */
export function openSpaces(isTaken: (block: BlockIndex) => boolean, { w, h, near, limit }: SpaceWish): Rectangle[] {
  const sums = sumsOf(isTaken)
  const goal = near === undefined ? CENTRE : halves(near)
  const found: Rectangle[] = []
  const candidates = ALL_BLOCKS.filter((at) => isOpen(sums, { at, w, h })).map((at) => ({
    rectangle: { at, w, h },
    distance: distanceOf({ at, w, h }, goal),
  }))
  while (found.length < limit) {
    let best: (typeof candidates)[number] | undefined
    for (const candidate of candidates) {
      if (best !== undefined && candidate.distance >= best.distance) continue
      if (!found.some((other) => overlap(candidate.rectangle, other))) best = candidate
    }
    if (best === undefined) break
    found.push(best.rectangle)
  }
  return found
}

/** The blocks of a rectangle in the order to buy them: the wall's most wanted first, ties by index. */
export function buyingOrder({ at, w, h }: Rectangle): BlockIndex[] {
  const { col, row } = cellOf(at)
  const blocks = Array.from({ length: w * h }, (_, i) => blockAt(col + (i % w), row + Math.floor(i / w)))
  return blocks
    .filter((block) => block !== undefined)
    .toSorted((a, b) => centreDistance(a) - centreDistance(b) || a - b)
}

/** At (col, row), how many blocks above and to the left of it are taken: any rectangle's count is then four of these. */
function sumsOf(isTaken: (block: BlockIndex) => boolean): Uint16Array {
  const sums = new Uint16Array((COLS + 1) * (ROWS + 1))
  for (const block of ALL_BLOCKS) {
    const { col, row } = cellOf(block)
    const own = isTaken(block) ? 1 : 0
    sums[(row + 1) * (COLS + 1) + col + 1] =
      own + sumAt(sums, col, row + 1) + sumAt(sums, col + 1, row) - sumAt(sums, col, row)
  }
  return sums
}

const sumAt = (sums: Uint16Array, col: number, row: number) => sums[row * (COLS + 1) + col] ?? 0

function isOpen(sums: Uint16Array, { at, w, h }: Rectangle): boolean {
  const { col, row } = cellOf(at)
  if (col + w > COLS || row + h > ROWS) return false
  const [right, bottom] = [col + w, row + h]
  return sumAt(sums, right, bottom) - sumAt(sums, col, bottom) - sumAt(sums, right, row) + sumAt(sums, col, row) === 0
}

/** Squared distance of the rectangle's centre to the goal, in half blocks: an integer, so that ties are exact. */
function distanceOf({ at, w, h }: Rectangle, goal: { readonly x: number; readonly y: number }): number {
  const { x, y } = halves(at)
  return (x + w - 1 - goal.x) ** 2 + (y + h - 1 - goal.y) ** 2
}

function halves(block: BlockIndex): { readonly x: number; readonly y: number } {
  const { col, row } = cellOf(block)
  return { x: 2 * col, y: 2 * row }
}

function overlap(one: Rectangle, other: Rectangle): boolean {
  const [a, b] = [cellOf(one.at), cellOf(other.at)]
  return a.col < b.col + other.w && b.col < a.col + one.w && a.row < b.row + other.h && b.row < a.row + one.h
}
