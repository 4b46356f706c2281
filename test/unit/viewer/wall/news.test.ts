import { describe, expect, test } from 'bun:test'
import { addMissedChanges, findNews, listTourStops } from '../../../../viewer/wall/news.ts'
import {
  requireBlockAt,
  blockWithoutPicture,
  canvas,
  checkerBlock,
  nastyBlock,
  openBlock,
  rainbowBlock,
  buildSampleWall,
} from '../../../support/page/sample-wall.ts'

const wall = buildSampleWall(canvas)

const SOLD_LAST = 1_760_000_300_000

test('the news of today consists of the blocks sold since midnight, and the number of their agents', () => {
  const news = findNews(wall, 1_760_000_100_000)
  expect(news).toMatchObject({ agents: 2, since: 'today' })
  expect(new Set(news?.blocks)).toEqual(new Set([nastyBlock, checkerBlock, blockWithoutPicture]))
})

test('if nothing was sold today, the news is the latest sale', () => {
  const since = { lastAt: SOLD_LAST, agent: 1 }
  expect(findNews(wall, SOLD_LAST + 1)).toEqual({ blocks: [nastyBlock], agents: 1, since })
})

test('a wall without sales has no news', () => {
  expect(findNews(buildSampleWall({ ...canvas, blocks: [] }), 0)).toBeUndefined()
})

test('the news of a returning visitor consists of the missed changes, or of today’s sales if nothing was missed', () => {
  const missed = { since: 5, blocks: new Set([rainbowBlock, nastyBlock, openBlock]) }
  expect(findNews(wall, 0, missed)).toEqual({ blocks: [rainbowBlock, nastyBlock], agents: 2, since: 5 })
  expect(findNews(wall, SOLD_LAST, { since: 5, blocks: new Set() })?.since).toBe('today')
})

test('each change that arrives adds its blocks to the missed blocks', () => {
  const first = addMissedChanges(wall, { ...wall, changed: [rainbowBlock] }, 5)
  expect(addMissedChanges(wall, { ...wall, changed: [nastyBlock] }, 5, first)).toEqual({
    since: 5,
    blocks: new Set([rainbowBlock, nastyBlock]),
  })
})

test('if the whole wall was read again, the blocks sold after the last known sale count as missed', () => {
  const before = { ...wall, stats: { ...wall.stats, lastClaimedAt: SOLD_LAST - 1 } }
  expect(addMissedChanges(before, wall, 5).blocks).toEqual(new Set([nastyBlock]))
})

describe('a tour through new blocks', () => {
  const createArea = (from: number, w: number, h: number, a: number, t: number) =>
    Array.from({ length: w * h }, (_, at) => ({ i: from + (at % w) + 160 * Math.floor(at / w), a, t }))
  const px = new Uint8Array(100).toBase64()
  const createPaintedWall = (...areas: ReturnType<typeof createArea>[]) =>
    buildSampleWall({ ...canvas, blocks: areas.flat().map((block) => ({ ...block, px })) })

  test('a tour visits the artwork with the most new blocks first, and an open block next to the newest artwork last', () => {
    const shown = createPaintedWall(
      createArea(0, 1, 1, 0, 3),
      createArea(320, 3, 3, 1, 1),
      createArea(1600, 2, 2, 0, 2),
    )
    const blocks = [...shown.claims.keys()]
    expect(listTourStops(shown, blocks)).toEqual([
      requireBlockAt(0, 2),
      requireBlockAt(0, 10),
      requireBlockAt(0, 0),
      requireBlockAt(1, 0),
    ])
    expect(listTourStops(shown, [requireBlockAt(1, 10)])).toEqual([requireBlockAt(0, 10), requireBlockAt(1, 0)])
  })

  test('a tour leaves out artworks without a picture', () => {
    const shown = buildSampleWall({ ...canvas, blocks: [...createArea(320, 3, 3, 1, 1), { i: 0, a: 0, t: 3, px }] })
    expect(listTourStops(shown, [...shown.claims.keys()])).toEqual([requireBlockAt(0, 0), requireBlockAt(1, 0)])
  })

  test('a tour has at most twelve artworks', () => {
    const many = createPaintedWall(...Array.from({ length: 20 }, (_, n) => createArea(4 * n, 1, 1, 0, n)))
    expect(listTourStops(many, [...many.claims.keys()])).toHaveLength(13)
  })

  test('on a sold-out wall, a tour ends with an artwork instead of an open block', () => {
    const full = createPaintedWall(createArea(0, 160, 90, 0, 1))
    expect(listTourStops(full, [requireBlockAt(5, 5)])).toEqual([requireBlockAt(0, 0)])
  })
})
