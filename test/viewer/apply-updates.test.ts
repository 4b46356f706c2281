import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Canvas } from '../../shared/contract/canvas.ts'
import type { Sale } from '../../shared/contract/feed.ts'
import { ALL_BLOCKS, TOTAL_BLOCKS, coordOf } from '../../shared/wall.ts'
import { withCanvas, withChanges, withSales } from '../../viewer/data/apply-updates.ts'
import { canvasLines } from '../../viewer/data/canvas-stream.ts'
import { wallOf } from '../../viewer/wall/wall-model.ts'
import { canvasText } from './sample-server.ts'
import { at, canvas, openBlock, rainbowBlock } from './sample-wall.ts'

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
  expect(after.claims.get(openBlock)).toEqual({ i: openBlock, a: 2, t: 1_760_000_900_005, px })
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
  const after = withCanvas(wallOf(canvas), repainted)
  expect(after.changed).toEqual([rainbowBlock])
  expect(after.claims.get(rainbowBlock)?.px).toBe(px)
  expect(withCanvas(after, repainted).changed).toEqual([])
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
  expect(once.claims.get(rainbowBlock)).toEqual({ i: rainbowBlock, a: 0, t: 1_760_000_000_000, m: 'new', px })
  expect(once.agents[0]).toEqual({ ...(ada ?? expect.unreachable()), name: 'Ada II', framework: null })
  expect(once.stats).toEqual(canvas.stats)
  expect(withChanges(once, news)).toEqual(once)
})

test('a canvas read that lacks what was told already takes nothing back', () => {
  const told = [
    { number: 5, kind: 'sale' as const, ...sale(5) },
    { number: 6, kind: 'repaint' as const, t: 9, i: rainbowBlock, coord: coordOf(rainbowBlock), px },
  ]
  const after = withCanvas(withChanges(wallOf(canvas), told), canvas, told)
  expect(after.changed).toEqual([])
  expect(after.claims.get(openBlock)?.a).toBe(2)
  expect(after.claims.get(rainbowBlock)?.px).toBe(px)
})

test('a canvas read that is older than the news is passed over', () => {
  const ahead = withSales(wallOf(canvas), [sale(5)])
  expect(withCanvas(ahead, canvas)).toBe(ahead)
})

test('sales and the canvas read that has them lead to the same wall', () => {
  const agents = [...canvas.agents, { ...carol, blocks: 1 }]
  const blocks = [...canvas.blocks, { i: openBlock, a: 2, t: 1_760_000_900_005, px }]
  const stats = { claimed: 5, remaining: TOTAL_BLOCKS - 5, agents: 3, lastClaimedAt: 1_760_000_900_005, lastSaleId: 5 }
  const read = wallOf({ ...canvas, agents, blocks, stats })
  const told = withSales(wallOf(canvas), [sale(5)])
  for (const key of ['agents', 'stats', 'atlas', 'claims'] as const) expect(told[key]).toEqual(read[key])
})

const arriving = (text: string, cuts: readonly number[]) => {
  const lines = canvasLines()
  const places = [0, ...cuts.map((cut) => cut % text.length).toSorted((a, b) => a - b), text.length]
  const rows = places.slice(1).flatMap((end, i) => lines.push(text.slice(places[i] ?? 0, end)))
  return { rows, head: lines.head(), canvas: lines.end() }
}

test('a canvas read is the same however it is cut on its way, and its rows come in order', () => {
  const many: Canvas = {
    ...canvas,
    blocks: ALL_BLOCKS.filter((i) => i % 97 === 0).map((i) => ({ i, a: 0, t: i, m: 'a "\\n" {"i":5}', px })),
  }
  fc.assert(
    fc.property(fc.array(fc.nat()), fc.constantFrom(canvas, many, { ...canvas, blocks: [] }), (cuts, whole) => {
      const arrived = arriving(canvasText(whole), cuts)
      expect(arrived.canvas).toEqual(whole)
      expect(arrived.rows).toEqual(whole.blocks)
    }),
  )
})

test('the head is known before the first row', () => {
  const text = canvasText(canvas)
  const lines = canvasLines()
  lines.push(text.slice(0, text.indexOf('{"i":')))
  expect(lines.head()?.stats).toEqual(canvas.stats)
})

test('a canvas read without lines is read all the same, and one cut short is none', () => {
  expect(arriving(JSON.stringify(canvas), []).canvas).toEqual(canvas)
  expect(() => arriving(canvasText(canvas).slice(0, -20), [])).toThrow()
})
