import { expect, test } from 'bun:test'
import type { Canvas } from '../../../../shared/contract/canvas.ts'
import type { Sale } from '../../../../shared/contract/feed.ts'
import { TOTAL_BLOCKS, coordOf } from '../../../../shared/wall.ts'
import { withChanges, withReading, withSales } from '../../../../viewer/data/apply-updates.ts'
import { loadCanvas } from '../../../../viewer/data/load-canvas.ts'
import type { Reading } from '../../../../viewer/data/read-canvas.ts'
import { decodePicture, pictureAt } from '../../../../viewer/wall/pixel-buffer.ts'
import type { Wall } from '../../../../viewer/wall/wall-model.ts'
import { pixelsOf, withoutPictures } from '../../../support/page/sample-server.ts'
import { at, canvas, openBlock, rainbowBlock, wallOf } from '../../../support/page/sample-wall.ts'

const readingOf = (read: Canvas): Reading => ({ pixels: pixelsOf(read), blocks: withoutPictures(read) })

const px = new Uint8Array(100).fill(7).toBase64()
const carol: Sale['agent'] = { id: 3, name: 'Carol', wallet: '0xcccc…cccc', framework: null }
const sale = (seq: number, block = openBlock, agent = carol): Sale => ({
  seq,
  i: block,
  coord: coordOf(block),
  t: 1_760_000_900_000 + seq,
  agent,
  px,
})

test('a sale claims its block for its agent, who is new or gains one', () => {
  const after = withSales(wallOf(canvas), [sale(5), sale(6, at(0, 0), { ...carol, id: 1, name: 'Ada' })])
  expect(after.changed).toEqual([openBlock, at(0, 0)])
  expect(after.claims.get(openBlock)).toEqual({ i: openBlock, a: 2, t: 1_760_000_900_005 })
  expect(pictureAt(after.texture, openBlock)).toEqual(decodePicture(px))
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

test('a sale that is told again changes nothing', () => {
  const once = withSales(wallOf(canvas), [sale(5)])
  expect(withSales(once, [sale(5)])).toBe(once)
})

test('a later canvas read changes what was repainted and nothing else', () => {
  const repainted: Canvas = {
    ...canvas,
    blocks: canvas.blocks.map((block) => (block.i === rainbowBlock ? { ...block, px } : block)),
  }
  const before = wallOf(canvas)
  const after = withReading(before, readingOf(repainted))
  expect(after.changed).toEqual([rainbowBlock])
  expect(pictureAt(after.texture, rainbowBlock)).toEqual(decodePicture(px))
  expect(withReading(after, readingOf(repainted)).changed).toEqual([])
})

test('a repaint and a new name are worked in, and told twice they change no more', () => {
  const [ada] = canvas.agents
  const news = [
    { number: 5, kind: 'repaint' as const, t: 9, i: rainbowBlock, coord: coordOf(rainbowBlock), m: 'new', px },
    { number: 6, kind: 'identity' as const, t: 9, agent: { id: 1, name: 'Ada II', framework: null } },
    { number: 7, kind: 'repaint' as const, t: 9, i: openBlock, coord: coordOf(openBlock) },
  ]
  const once = withChanges(wallOf(canvas), news)
  expect(once.changed).toEqual([rainbowBlock])
  expect(once.claims.get(rainbowBlock)).toEqual({ i: rainbowBlock, a: 0, t: 1_760_000_000_000, m: 'new' })
  expect(pictureAt(once.texture, rainbowBlock)).toEqual(decodePicture(px))
  expect(once.agents[0]).toEqual({ ...(ada ?? expect.unreachable()), name: 'Ada II', framework: null })
  expect(once.stats).toEqual(canvas.stats)
  expect(withChanges(once, news)).toEqual(once)
})

test('a canvas read that lacks what was told already takes nothing back', () => {
  const told = [
    { number: 5, kind: 'sale' as const, ...sale(5) },
    { number: 6, kind: 'repaint' as const, t: 9, i: rainbowBlock, coord: coordOf(rainbowBlock), px },
  ]
  const after = withReading(withChanges(wallOf(canvas), told), readingOf(canvas), told)
  expect(after.changed).toEqual([])
  expect(after.claims.get(openBlock)?.a).toBe(2)
  expect(pictureAt(after.texture, rainbowBlock)).toEqual(decodePicture(px))
})

test('a canvas read that is older than the news is passed over', () => {
  const ahead = withSales(wallOf(canvas), [sale(5)])
  expect(withReading(ahead, readingOf(canvas))).toBe(ahead)
})

test('sales and the canvas read that has them lead to the same wall', () => {
  const agents = [...canvas.agents, { ...carol, blocks: 1 }]
  const blocks = [...canvas.blocks, { i: openBlock, a: 2, t: 1_760_000_900_005, px }]
  const stats = { claimed: 5, remaining: TOTAL_BLOCKS - 5, agents: 3, lastClaimedAt: 1_760_000_900_005, lastSaleId: 5 }
  const read = wallOf({ ...canvas, agents, blocks, stats })
  const told = withSales(wallOf(canvas), [sale(5)])
  for (const key of ['agents', 'stats', 'texture', 'claims'] as const) expect(told[key]).toEqual(read[key])
})

test('a half that has not changed is left out, and what is known of it stays', () => {
  const repainted = readingOf({
    ...canvas,
    blocks: canvas.blocks.map((block) => (block.i === rainbowBlock ? { ...block, m: 'new', px } : block)),
  })
  const pictures = withReading(wallOf(canvas), { ...repainted, blocks: undefined })
  expect([pictures.changed, pictures.claims.get(rainbowBlock)?.m]).toEqual([[rainbowBlock], 'Hello from a machine.'])
  expect(pictureAt(pictures.texture, rainbowBlock)).toEqual(decodePicture(px))
  const words = withReading(wallOf(canvas), { ...repainted, pixels: undefined })
  expect([words.changed, words.claims.get(rainbowBlock)?.m]).toEqual([[rainbowBlock], 'new'])
  expect(words.texture).toEqual(wallOf(canvas).texture)
})

test('a wall whose pictures arrive in pieces before all else is the wall that the canvas read tells', async () => {
  const shown: Wall[] = []
  let drawn = () => {}
  const { pixels, blocks } = readingOf(canvas)
  await loadCanvas(
    async (onPictures) => {
      for (let first = 0; first < TOTAL_BLOCKS; first += 100)
        onPictures?.(first, pixels?.subarray(first * 100, (first + 100) * 100) ?? new Uint8Array())
      await new Promise<void>((resolve) => (drawn = resolve))
      return { pixels, blocks }
    },
    (wall) => {
      shown.push(wall)
      drawn()
    },
  )
  const whole = wallOf(canvas)
  expect(shown[0]?.complete).toBe(false)
  for (const key of ['agents', 'stats', 'texture', 'claims', 'complete'] as const)
    expect(shown.at(-1)?.[key]).toEqual(whole[key])
})
