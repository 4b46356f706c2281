import { expect, test } from 'bun:test'
import { freshness, newsSince } from '../../../../viewer/wall/news.ts'
import { canvas, wallOf } from '../../../support/page/sample-wall.ts'

const wall = wallOf(canvas)

test('the news counts the sales since a moment, and names the last sale of all', () => {
  const last = { agent: 1, soldAt: 1_760_000_300_000 }
  expect(newsSince(wall, 1_760_000_100_000)).toEqual({ sold: 3, ...last })
  expect(newsSince(wall, 1_760_000_300_001)).toEqual({ sold: 0, ...last })
})

test('a wall without sales has no news', () => {
  expect(newsSince(wallOf({ ...canvas, blocks: [] }), 0)).toBeUndefined()
})

const NOW = 1_770_000_000_000

/** A wall with so many old sales, and works of one agent in every second row: `minutes` says how long ago each was sold. */
const withFreshWorks = (old: number, minutes: readonly number[]) =>
  wallOf({
    ...canvas,
    blocks: [
      ...minutes.map((ago, at) => ({ i: 320 * at, a: 0, t: NOW - ago * 60_000 })),
      ...Array.from({ length: old }, (_, at) => ({ i: 14_000 + at, a: 1, t: NOW - 86_400_000 })),
    ],
  })

const glowOf = (old: number, minutes: readonly number[]) => {
  const bytes = freshness(withFreshWorks(old, minutes), NOW)
  return minutes.map((_, at) => bytes[320 * at])
}

test('a new sale glows, less after half an hour, and not after an hour', () => {
  expect(glowOf(100, [0, 30, 60])).toEqual([255, 128, 0])
})

test('only the newest five of many new artworks glow', () => {
  expect(glowOf(100, [7, 6, 1, 2, 3, 4, 5]).map((byte) => (byte ?? 0) > 0)).toEqual([
    false,
    false,
    true,
    true,
    true,
    true,
    true,
  ])
})

test('nothing glows if more than a tenth of the sold blocks are new', () => {
  expect(glowOf(18, [0, 0])).toEqual([255, 255])
  expect(glowOf(17, [0, 0])).toEqual([0, 0])
})
