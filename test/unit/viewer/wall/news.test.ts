import { expect, test } from 'bun:test'
import { freshness, newsSince } from '../../../../viewer/wall/news.ts'
import { canvas, checkerBlock, nastyBlock, openBlock, rainbowBlock, wallOf } from '../../../support/page/sample-wall.ts'

const wall = wallOf(canvas)

test('the news counts what was sold since a moment, and names the last sale of all', () => {
  const last = { agent: 1, soldAt: 1_760_000_300_000 }
  expect(newsSince(wall, 1_760_000_100_000)).toEqual({ sold: 3, ...last })
  expect(newsSince(wall, 1_760_000_300_001)).toEqual({ sold: 0, ...last })
})

test('a wall of which nothing is sold has no news', () => {
  expect(newsSince(wallOf({ ...canvas, blocks: [] }), 0)).toBeUndefined()
})

test('a block is fresh when it was just sold, less so half an hour later, and not after an hour', () => {
  const seen = (now: number) => {
    const bytes = freshness(wall, now)
    return [nastyBlock, checkerBlock, rainbowBlock, openBlock].map((block) => bytes[block])
  }
  expect(seen(1_760_000_300_000)).toEqual([255, 241, 234, 0])
  expect(seen(1_760_000_300_000 + 1_800_000)).toEqual([128, 114, 107, 0])
  expect(seen(1_760_000_300_000 + 3_600_000)).toEqual([0, 0, 0, 0])
})
