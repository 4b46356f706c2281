/** Finds rectangles of open blocks. */

import type { AreaSize } from '../../../shared/area.ts'
import { ALL_BLOCKS, getCell, COLS, ROWS, TOTAL_BLOCKS, type BlockIndex } from '../../../shared/wall.ts'

/** A rectangle of blocks: its top left block and its size. */
export type Rectangle = { readonly at: BlockIndex; readonly w: number; readonly h: number }

/** A search for the open rectangles nearest to the block `near`, or to the wall's centre if `near` is undefined. */
export type SpaceWish = {
  readonly w: number
  readonly h: number
  readonly near: BlockIndex | undefined
  readonly limit: number
}

// The wall's centre in half blocks, from the middle of the first block.
const CENTRE = { x: COLS - 1, y: ROWS - 1 }

/**
 * The taken blocks, prepared for many searches: the entry at (col, row) is the number of taken blocks above and to the
 * left of the corner with these coordinates.
 */
export type Occupancy = Uint16Array<ArrayBuffer>

/** Counts the taken blocks, once for all searches: the count in any rectangle then follows from four entries. */
export function computeOccupancy(isTaken: (block: BlockIndex) => boolean): Occupancy {
  const sums = new Uint16Array((COLS + 1) * (ROWS + 1))
  let inRow = 0
  for (const block of ALL_BLOCKS) {
    const col = block % COLS
    inRow = (col === 0 ? 0 : inRow) + (isTaken(block) ? 1 : 0)
    const above = ((block - col) / COLS) * (COLS + 1) + col + 1
    sums[above + COLS + 1] = (sums[above] ?? 0) + inRow
  }
  return sums
}

/**
 * At most `limit` open rectangles that share no block, nearest first; ties are ordered by the index of the top left
 * block.
 */
export function findOpenSpaces(occupancy: Occupancy, { w, h, near, limit }: SpaceWish): Rectangle[] {
  const places = findOpenPlaces(occupancy, w, h, near === undefined ? CENTRE : toHalfBlocks(near))
  const found: Rectangle[] = []
  while (found.length < limit) {
    const at = ALL_BLOCKS[findNearestPlace(places)]
    if (at === undefined) break
    found.push({ at, w, h })
    removeAround(places, at, w, h)
  }
  return found
}

/** The blocks that are unavailable now (`taken`), and those of them that will never be available again (`sold`). */
export type Occupied = { readonly taken: Occupancy; readonly sold: Occupancy }

/** The place at which a target can be sold, by its top left block, or the reason why there is none. */
export type Place =
  | { readonly kind: 'open'; readonly block: BlockIndex }
  | { readonly kind: 'reserved' | 'claimed' | 'crowded' }

/** The open area of a given size nearest to the wall's centre, or why there is none. */
export function findNearestArea(occupied: Occupied, size: AreaSize): Place {
  const wish = { w: size.w, h: size.h, near: undefined, limit: 1 }
  const [open] = findOpenSpaces(occupied.taken, wish)
  if (open !== undefined) return { kind: 'open', block: open.at }
  const { sold } = occupied
  if (sold.at(-1) === TOTAL_BLOCKS) return { kind: 'claimed' }
  return { kind: findOpenSpaces(sold, wish).length === 0 ? 'crowded' : 'reserved' }
}

// The distance at a position where no open rectangle starts, and the nearest column of a row that has only such
// positions.
const NOWHERE = 0xffffffff
const NO_COLUMN = -1

/**
 * For each block that can be the top left one of an open rectangle, the squared distance from the rectangle's centre to
 * the goal, in half blocks. The distance is an integer, so that ties are exact. `nearest` has the column of each row's
 * nearest position, so that after a rectangle is found, only the rows that it touches are scanned again.
 */
type Places = { readonly distances: Uint32Array; readonly nearest: Int16Array }

// A search ends before the next one begins, so all searches use the same memory. The distances of a row without any
// position may be stale.
const PLACES: Places = { distances: new Uint32Array(TOTAL_BLOCKS), nearest: new Int16Array(ROWS) }

function findOpenPlaces(
  sums: Occupancy,
  w: number,
  h: number,
  goal: { readonly x: number; readonly y: number },
): Places {
  const { distances, nearest } = PLACES
  nearest.fill(NO_COLUMN)
  for (let row = 0; row + h <= ROWS; row++) {
    if (COLS * h - countTaken(sums, row * (COLS + 1), COLS, h) < w * h) continue
    distances.fill(NOWHERE, row * COLS, (row + 1) * COLS)
    const dy = (2 * row + h - 1 - goal.y) ** 2
    for (let col = 0; col + w <= COLS; col++) {
      if (countTaken(sums, row * (COLS + 1) + col, w, h) === 0)
        distances[row * COLS + col] = (2 * col + w - 1 - goal.x) ** 2 + dy
    }
    updateNearest(PLACES, row)
  }
  return PLACES
}

/** How many blocks are taken in a rectangle. `top` is the index of the entry at its top left corner. */
function countTaken(sums: Occupancy, top: number, w: number, h: number): number {
  const bottom = top + h * (COLS + 1)
  return (sums[bottom + w] ?? 0) - (sums[bottom] ?? 0) - (sums[top + w] ?? 0) + (sums[top] ?? 0)
}

function updateNearest({ distances, nearest }: Places, row: number): void {
  let column = NO_COLUMN
  let least = NOWHERE
  for (let col = 0; col < COLS; col++) {
    const distance = distances[row * COLS + col] ?? NOWHERE
    if (distance >= least) continue
    column = col
    least = distance
  }
  nearest[row] = column
}

/** The first position with the smallest distance; -1 if none is left. */
function findNearestPlace({ distances, nearest }: Places): number {
  let at = -1
  let least = NOWHERE
  for (let row = 0; row < ROWS; row++) {
    const col = nearest[row] ?? NO_COLUMN
    const distance = col === NO_COLUMN ? NOWHERE : (distances[row * COLS + col] ?? NOWHERE)
    if (distance >= least) continue
    at = row * COLS + col
    least = distance
  }
  return at
}

/** Removes the positions whose rectangles would share a block with the rectangle at `at`. */
function removeAround(places: Places, at: BlockIndex, w: number, h: number): void {
  const { col, row } = getCell(at)
  const [left, right] = [Math.max(0, col - w + 1), Math.min(COLS, col + w)]
  for (let y = Math.max(0, row - h + 1); y < Math.min(ROWS, row + h); y++) {
    places.distances.fill(NOWHERE, y * COLS + left, y * COLS + right)
    const nearest = places.nearest[y] ?? NO_COLUMN
    if (nearest >= left && nearest < right) updateNearest(places, y)
  }
}

function toHalfBlocks(block: BlockIndex): { readonly x: number; readonly y: number } {
  const { col, row } = getCell(block)
  return { x: 2 * col, y: 2 * row }
}

/** Whether a block can be bought: `open` if so, `reserved` while it is held, `claimed` once it is sold. */
export type BlockState = 'open' | 'reserved' | 'claimed'

/** The availability of an area whose blocks have these states. */
export const findWorstState = (states: readonly BlockState[]): BlockState =>
  states.includes('claimed') ? 'claimed' : states.includes('reserved') ? 'reserved' : 'open'

/** The unavailable blocks: sold ones in `taken`, held ones in `held`. */
export function listConflicts(blocks: readonly { readonly i: BlockIndex; readonly state: BlockState }[]) {
  const selectBlocks = (state: BlockState) => blocks.filter((block) => block.state === state).map(({ i }) => i)
  return { taken: selectBlocks('claimed'), held: selectBlocks('reserved') }
}
