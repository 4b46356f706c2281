import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { getCell, type BlockIndex } from '../../../../shared/wall.ts'
import { groupIntoWorks } from '../../../../shared/works.ts'
import { computeBounds, traceEdges, findWork } from '../../../../viewer/wall/artworks.ts'
import {
  requireBlockAt,
  blockWithoutPicture,
  canvas,
  checkerBlock,
  nastyBlock,
  rainbowBlock,
  buildSampleWall,
} from '../../../support/page/sample-wall.ts'

const wall = buildSampleWall(canvas)

const areAdjacent = (a: BlockIndex, b: BlockIndex) => {
  const [one, other] = [getCell(a), getCell(b)]
  return Math.abs(one.col - other.col) + Math.abs(one.row - other.row) === 1
}

test('every block of an owner belongs to one artwork, and different artworks of that owner never touch', () => {
  // All blocks are in one corner of the wall, so that many of them touch.
  const crowded = fc
    .uniqueArray(fc.tuple(fc.nat(7), fc.nat(7)), { selector: String })
    .map((cells) => cells.map(([col, row]) => requireBlockAt(col, row)))
  fc.assert(
    fc.property(crowded, (blocks) => {
      const works = groupIntoWorks(blocks)
      expect(works.flat().toSorted((a, b) => a - b)).toEqual(blocks.toSorted((a, b) => a - b))
      works.forEach((work, i) =>
        works
          .slice(i + 1)
          .forEach((other) => expect(work.some((a) => other.some((b) => areAdjacent(a, b)))).toBe(false)),
      )
      for (const work of works)
        for (const block of work) if (work.length > 1) expect(work.some((b) => areAdjacent(block, b))).toBe(true)
    }),
  )
})

test('blocks that touch only at corners are not one artwork, and an open block belongs to no artwork', () => {
  expect(findWork(wall, rainbowBlock)).toEqual([rainbowBlock, blockWithoutPicture])
  expect(findWork(wall, checkerBlock)).toEqual([checkerBlock])
  expect(findWork(wall, nastyBlock)).toEqual([nastyBlock])
  expect(findWork(wall, requireBlockAt(0, 0))).toEqual([])
})

test('the bounds of a set of blocks enclose all of them, and the bounds of an empty set are those of the whole wall', () => {
  expect(computeBounds([requireBlockAt(2, 3), requireBlockAt(5, 1)])).toEqual({
    left: 20,
    top: 10,
    right: 60,
    bottom: 40,
  })
  expect(computeBounds([])).toEqual({ left: 0, top: 0, right: 1600, bottom: 900 })
})

test('edges are drawn only between blocks of a set and blocks outside it', () => {
  expect(traceEdges([requireBlockAt(1, 2)])).toBe('M10 20h10M10 30h10M10 20v10M20 20v10')
  expect(traceEdges([requireBlockAt(0, 0), requireBlockAt(1, 0)])).toBe(
    'M0 0h10M0 10h10M0 0v10M10 0h10M10 10h10M20 0v10',
  )
  expect(traceEdges([])).toBe('')
})
