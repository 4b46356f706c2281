import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  computeOccupancy,
  findOpenSpaces,
  type Rectangle,
  type SpaceWish,
} from '../../../server/domain/wall/open-space.ts'
import {
  ALL_BLOCKS,
  getBlockAt,
  getCell,
  CLAIM_ORDER,
  COLS,
  formatCoord,
  ROWS,
  type BlockIndex,
} from '../../../shared/wall.ts'
import { parseBlockOrThrow } from '../../support/samples.ts'

const isNeverTaken = () => false

const findSpaces = (isTaken: (block: BlockIndex) => boolean, wish: Partial<SpaceWish>) =>
  findOpenSpaces(computeOccupancy(isTaken), { w: 1, h: 1, near: undefined, limit: 1, ...wish }).map(({ at }) =>
    formatCoord(at),
  )

/** The blocks of a rectangle; `undefined` if it exceeds the wall. */
function listCells({ at, w, h }: Rectangle): ReadonlyArray<BlockIndex | undefined> {
  const { col, row } = getCell(at)
  return Array.from({ length: w * h }, (_, i) => getBlockAt(col + (i % w), row + Math.floor(i / w)))
}

/** The same search as `findOpenSpaces`, block by block and without tables. */
function findByBruteForce(taken: ReadonlySet<BlockIndex>, { w, h, near, limit }: SpaceWish): Rectangle[] {
  const goal =
    near === undefined ? { x: (COLS - 1) / 2, y: (ROWS - 1) / 2 } : { x: getCell(near).col, y: getCell(near).row }
  const blocked = new Set(taken)
  const candidates = ALL_BLOCKS.map((at) => {
    const { col, row } = getCell(at)
    return { at, far: (col + (w - 1) / 2 - goal.x) ** 2 + (row + (h - 1) / 2 - goal.y) ** 2 }
  }).toSorted((one, other) => one.far - other.far || one.at - other.at)
  const found: Rectangle[] = []
  for (const { at } of candidates) {
    const cells = listCells({ at, w, h })
    const isFree = cells.every((cell) => cell !== undefined && !blocked.has(cell))
    if (!isFree || found.length === limit) continue
    found.push({ at, w, h })
    for (const cell of cells) if (cell !== undefined) blocked.add(cell)
  }
  return found
}

test('the search finds the same spaces as a check of every position', () => {
  const block = fc.constantFrom(...ALL_BLOCKS)
  const wish = fc.record({
    w: fc.integer({ min: 1, max: 12 }),
    h: fc.integer({ min: 1, max: 12 }),
    near: fc.option(block, { nil: undefined }),
    limit: fc.integer({ min: 1, max: 20 }),
  })
  // Many taken blocks leave little open space, and a few leave much of it.
  const taken = fc.oneof(
    fc.array(block, { maxLength: 30 }),
    fc.array(block, { minLength: 300, maxLength: 600 }),
    fc
      .tuple(block, fc.integer({ min: 2, max: 200 }))
      .map(([from, step]) => ALL_BLOCKS.filter((at) => at > from && at % step < 2)),
  )
  fc.assert(
    fc.property(taken, wish, (blocks, wanted) => {
      const set = new Set(blocks)
      expect(
        findOpenSpaces(
          computeOccupancy((at) => set.has(at)),
          wanted,
        ),
      ).toEqual(findByBruteForce(set, wanted))
    }),
    { numRuns: 60 },
  )
})

test('on an empty wall the nearest open block is the next block for sale', () => {
  expect(findSpaces(isNeverTaken, { limit: 3 })).toEqual(CLAIM_ORDER.slice(0, 3).map((block) => formatCoord(block)))
})

test('space is found up to the edges of the wall and never beyond them', () => {
  expect(findSpaces(isNeverTaken, { w: COLS, h: ROWS })).toEqual(['0,0'])
  expect(findSpaces((block) => block === 0, { w: COLS, h: ROWS })).toEqual([])
  expect(findSpaces(isNeverTaken, { w: 3, h: 2, near: parseBlockOrThrow('0,0') })).toEqual(['0,0'])
  expect(findSpaces(isNeverTaken, { w: 3, h: 2, near: parseBlockOrThrow('159,89') })).toEqual(['157,88'])
})

test('a wall without open blocks has no space', () => {
  expect(findSpaces(() => true, { limit: 20 })).toEqual([])
})
