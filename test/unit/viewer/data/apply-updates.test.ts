import { expect, test } from 'bun:test'
import type { Canvas } from '../../../../shared/contract/canvas.ts'
import type { Sale } from '../../../../shared/contract/feed.ts'
import { TOTAL_BLOCKS, formatCoord } from '../../../../shared/wall.ts'
import { applyChanges } from '../../../../viewer/data/apply-updates.ts'
import { readWall } from '../../../../viewer/data/read-wall.ts'
import { readPicture } from '../../../../viewer/wall/pixel-buffer.ts'
import { buildWall as wallFrom, type Wall } from '../../../../viewer/wall/wall-model.ts'
import { encodePixels, omitPictures } from '../../../support/page/sample-server.ts'
import { requireBlockAt, canvas, openBlock, rainbowBlock, buildSampleWall } from '../../../support/page/sample-wall.ts'

const createReading = (read: Canvas) => ({ pixels: encodePixels(read), blocks: omitPictures(read) })

const px = new Uint8Array(100).fill(7).toBase64()
const carol: Sale['agent'] = { id: 3, name: 'Carol', wallet: '0xcccc…cccc', framework: null }
const createSale = (seq: number, block = openBlock, agent = carol) => ({
  number: seq,
  kind: 'sale' as const,
  seq,
  i: block,
  coord: formatCoord(block),
  t: 1_760_000_900_000 + seq,
  agent,
  px,
})

test('a sale assigns its block to the buyer, whether the buyer is a new agent or already owns blocks', () => {
  const after = applyChanges(buildSampleWall(canvas), [
    createSale(5),
    createSale(6, requireBlockAt(0, 0), { ...carol, id: 1, name: 'Ada' }),
  ])
  expect(after.changed).toEqual([openBlock, requireBlockAt(0, 0)])
  expect(after.claims.get(openBlock)).toEqual({ i: openBlock, a: 2, t: 1_760_000_900_005 })
  expect(readPicture(after.texture, openBlock)).toEqual(Uint8Array.fromBase64(px))
  expect(after.agents.map(({ name, blocks }) => [name, blocks])).toEqual([
    ['Ada', 4],
    [canvas.agents[1]?.name ?? '', 1],
    ['Carol', 1],
  ])
  expect(after.stats).toEqual({
    claimed: 6,
    remaining: TOTAL_BLOCKS - 6,
    agents: 3,
    lastClaimedAt: 1_760_000_900_006,
    lastSaleId: 6,
  })
})

test('a sale that arrives twice is counted once, but its picture is drawn again if the pictures were read before the sale', () => {
  const once = applyChanges(buildSampleWall(canvas), [createSale(5)])
  const again = applyChanges({ ...once, texture: buildSampleWall(canvas).texture }, [createSale(5)])
  expect([again.stats, again.agents]).toEqual([once.stats, once.agents])
  expect(readPicture(again.texture, openBlock)).toEqual(Uint8Array.fromBase64(px))
})

test('a repaint and a new name are applied, and applying them again changes nothing', () => {
  const [ada] = canvas.agents
  const news = [
    { number: 5, kind: 'repaint' as const, t: 9, i: rainbowBlock, coord: formatCoord(rainbowBlock), m: 'new', px },
    { number: 6, kind: 'identity' as const, t: 9, agent: { id: 1, name: 'Ada II', framework: null } },
    { number: 7, kind: 'repaint' as const, t: 9, i: openBlock, coord: formatCoord(openBlock) },
  ]
  const once = applyChanges(buildSampleWall(canvas), news)
  expect(once.changed).toEqual([rainbowBlock])
  expect(once.claims.get(rainbowBlock)).toEqual({ i: rainbowBlock, a: 0, t: 1_760_000_000_000, m: 'new' })
  expect(readPicture(once.texture, rainbowBlock)).toEqual(Uint8Array.fromBase64(px))
  expect(once.agents[0]).toEqual({ ...(ada ?? expect.unreachable()), name: 'Ada II', framework: null })
  expect(once.stats).toEqual(canvas.stats)
  expect(applyChanges(once, news)).toEqual(once)
})

test('applying a sale gives the same wall as a canvas read that contains the sale', () => {
  const agents = [...canvas.agents, { ...carol, blocks: 1 }]
  const blocks = [...canvas.blocks, { i: openBlock, a: 2, t: 1_760_000_900_005, px }]
  const stats = { claimed: 5, remaining: TOTAL_BLOCKS - 5, agents: 3, lastClaimedAt: 1_760_000_900_005, lastSaleId: 5 }
  const read = buildSampleWall({ ...canvas, agents, blocks, stats })
  const updated = applyChanges(buildSampleWall(canvas), [createSale(5)])
  for (const key of ['agents', 'stats', 'texture', 'claims'] as const) expect(updated[key]).toEqual(read[key])
})

test('if the pixels and the rest of the wall were read at different moments, applying the changes gives the current wall', () => {
  const changes = [
    createSale(5),
    { number: 6, kind: 'repaint' as const, t: 9, i: openBlock, coord: formatCoord(openBlock), m: 'new' },
    { number: 7, kind: 'repaint' as const, t: 9, i: rainbowBlock, coord: formatCoord(rainbowBlock), m: 'mine', px },
  ]
  const early = createReading(canvas)
  const now = applyChanges(buildSampleWall(canvas), changes)
  const { agents, stats, claims } = now
  const late = { ...early.blocks, agents: [...agents], stats, blocks: [...claims.values()] }
  const known = applyChanges(wallFrom({ pixels: early.pixels, blocks: late }), changes)
  for (const key of ['agents', 'stats', 'texture', 'claims'] as const) expect(known[key]).toEqual(now[key])
})

test('a wall whose pixels arrive in pieces is incomplete at first, and finally equals the canvas read', async () => {
  const shown: Wall[] = []
  const { pixels, blocks } = createReading(canvas)
  const { promise: isDrawn, resolve } = Promise.withResolvers<void>()
  const pieces = new ReadableStream({
    async start(stream) {
      // Almost every piece ends in the middle of a block.
      for (let at = 0; at < pixels.length; at += 9999) stream.enqueue(pixels.slice(at, at + 9999))
      await isDrawn
      stream.close()
    },
  })
  const headers = { 'log-number': '4' }
  const { wall, number } = await readWall({
    requestPath: async (path) =>
      path === '/api/blocks' ? Response.json(blocks, { headers }) : new Response(pieces, { headers }),
    showWall(next) {
      shown.push(next)
      resolve()
    },
  })
  const whole = buildSampleWall(canvas)
  expect([number, wall.changed]).toEqual([4, undefined])
  expect(shown[0]?.complete).toBe(false)
  for (const key of ['agents', 'stats', 'texture', 'claims', 'complete'] as const)
    expect(shown.at(-1)?.[key]).toEqual(whole[key])
})
