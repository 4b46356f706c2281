import { expect, test } from 'bun:test'
import { chance, clouds, ink, mix, slope, swell } from '../../server/local/art/brushes.ts'
import { KEY, LATE, LIT, pixelsOf, SIGN, type Work, WORKS } from '../../server/local/art/gallery.ts'
import { arriveLate, exhibit } from '../../server/local/exhibition.ts'
import { areaName, blocksOf } from '../../shared/area.ts'
import { PALETTE, PALETTE_SIZE } from '../../shared/palette.ts'
import { cellOf, COLS, coordOf, ROWS } from '../../shared/wall.ts'
import { get } from '../support/e2e/buyer.ts'
import { readCanvas, readFeed } from '../support/e2e/read-wall.ts'
import { shareWorld, type World } from '../support/e2e/world.ts'

// Goal: the demo shows a wall that many agents have bought, honestly. Method: the exhibition on a real wall and chain, whose
// books must balance to the dollar afterwards.

let world: World
shareWorld((opened) => void (world = opened), 'SQLite', { SETTLE_TIMEOUT_MS: '20000', VERIFY_TIMEOUT_MS: '20000' })

const ALL: readonly Work[] = [SIGN, ...WORKS, KEY, LATE]

test('twenty to thirty agents hang some hundreds of blocks, each with one payment of its own, and one arrives late', async () => {
  const told: string[] = []
  const venue = { ...world, say: (line: string) => void told.push(line) }
  const sold = await exhibit(venue)
  expect(await readFeed(world)).toHaveLength(sold)
  await arriveLate(venue)
  const { agents, stats } = await readCanvas(world)
  expect(stats.claimed).toBe(ALL.reduce((sum, { w, h }) => sum + w * h, 0))
  expect(stats.claimed).toBeGreaterThan(500)
  expect([agents.length, agents.length >= 20 && agents.length <= 30]).toEqual([ALL.length, true])
  const payments = await Promise.all(ALL.map(paymentsOf))
  expect(payments.map((txs) => txs.length)).toEqual(ALL.map(() => 1))
  expect(new Set(payments.flat()).size).toBe(ALL.length)
  expect(told.at(-1)).toStartWith('Montgolfier has just arrived')
  expect(told.find((line) => line.includes('all want block'))).toMatch(/is refused .* with 2\.00 of 2\.00 left/)
}, 60_000)

/** The transactions that the blocks of a work were paid in. */
async function paymentsOf(work: Work): Promise<string[]> {
  const deeds = await Promise.all(
    blocksOf(work).map(async (block) => (await (await get(world, coordOf(block))).json()) as { tx: string }),
  )
  return [...new Set(deeds.map(({ tx }) => tx))]
}

test('the sign in the middle is bought dark and shines in the end', async () => {
  const shown = await fetch(`${world.url}/areas/${areaName(SIGN)}.png?scale=1`)
  expect(shown.status).toBe(200)
  expect(pixelsOf(LIT)).not.toEqual(pixelsOf(SIGN))
  const { blocks } = await readCanvas(world)
  const [first] = blocksOf(SIGN)
  const { px = '' } = blocks.find(({ i }) => i === first) ?? {}
  expect([...Uint8Array.fromBase64(px).subarray(0, 10)]).toEqual([...pixelsOf(LIT).subarray(0, 10)])
})

test('no two pictures share a block, and together they hang around the middle', () => {
  const blocks = ALL.flatMap((work) => blocksOf(work))
  expect(new Set(blocks).size).toBe(blocks.length)
  const mean = (axis: 'col' | 'row') => blocks.reduce((sum, block) => sum + cellOf(block)[axis], 0) / blocks.length
  expect(Math.abs(mean('col') - COLS / 2)).toBeLessThan(3)
  expect(Math.abs(mean('row') - ROWS / 2)).toBeLessThan(3)
})

test.each(ALL.map((work) => [work.name || 'the key', work] as const))(
  'the picture of %s fills its blocks in colours of the palette',
  (_, work) => {
    const pixels = pixelsOf(work)
    expect(pixels).toHaveLength(work.w * work.h * 100)
    expect(Math.max(...pixels)).toBeLessThan(PALETTE_SIZE)
    expect(new Set(pixels).size).toBeGreaterThan(1)
    expect(pixelsOf(work)).toEqual(pixels)
  },
)

test('slopes end where they are to end, and chance is the same each time and between 0 and 1', () => {
  const [black, white] = [
    [0, 0, 0],
    [1, 1, 1],
  ] as const
  expect([mix(black, white, -1), mix(black, white, 2), slope([black, white], 0.5)]).toEqual([
    black,
    white,
    [0.5, 0.5, 0.5],
  ])
  expect(PALETTE[ink('#ff0000')]).toBe('#ff0000')
  for (let at = 0; at < 200; at++)
    for (const part of [chance(at), swell(at / 7), clouds(at / 7, at / 3)]) expect(part >= 0 && part < 1).toBe(true)
  expect(chance(402)).toBe(chance(402))
})
