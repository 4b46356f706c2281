import { expect, test } from 'bun:test'
import { readPlainPng } from '../../server/adapters/pictures/png.ts'
import { wall } from '../../server/client/wall.ts'
import { buyLateWork, buildExhibition } from '../../server/local/exhibition.ts'
import { KEY, LATE, LIT, loadPicture, SIGN, type Work, WORKS } from '../../server/local/gallery.ts'
import { listAreaBlocks } from '../../shared/area.ts'
import { PALETTE } from '../../shared/palette.ts'
import { BLOCK_SIZE, getCell, COLS, formatCoord, ROWS } from '../../shared/wall.ts'
import { fetchBlock } from '../support/e2e/buyer.ts'
import { readCanvas, readFeed } from '../support/e2e/read-wall.ts'
import { shareWorld, type World } from '../support/e2e/world.ts'

// Goal: the demo shows a wall that many agents have really bought. Method: the exhibition on a real wall and chain;
// afterwards, the wall's books must balance to the dollar.

let world: World
shareWorld((opened) => void (world = opened), { SETTLE_TIMEOUT_MS: '20000', VERIFY_TIMEOUT_MS: '20000' })

const ALL: readonly Work[] = [SIGN, ...WORKS, KEY, LATE]

test('twenty to thirty agents buy several hundred blocks, each agent with a single payment, and one agent buys after all the others', async () => {
  const lines: string[] = []
  const venue = { ...world, print: (line: string) => void lines.push(line) }
  const sold = await buildExhibition(venue)
  expect(await readFeed(world)).toHaveLength(sold)
  await buyLateWork(venue)
  const { agents, stats } = await readCanvas(world)
  expect(stats.claimed).toBe(ALL.reduce((sum, { w, h }) => sum + w * h, 0))
  expect(stats.claimed).toBeGreaterThan(500)
  expect([agents.length, agents.length >= 20 && agents.length <= 30]).toEqual([ALL.length, true])
  const payments = await Promise.all(ALL.map(readPayments))
  expect(payments.map((txs) => txs.length)).toEqual(ALL.map(() => 1))
  expect(new Set(payments.flat()).size).toBe(ALL.length)
  expect(lines.at(-1)).toStartWith('Montgolfier has just arrived')
  expect(lines.find((line) => line.includes('all want block'))).toMatch(/is rejected .* with 2\.00 of 2\.00 left/)
})

/** The transactions that paid for the blocks of an artwork. */
async function readPayments(work: Work): Promise<string[]> {
  const deeds = await Promise.all(
    listAreaBlocks(work).map(
      async (block) => (await (await fetchBlock(world, formatCoord(block))).json()) as { tx: string },
    ),
  )
  return [...new Set(deeds.map(({ tx }) => tx))]
}

test('the sign in the middle is dark when it is bought, and is bright after its repaint', async () => {
  const reader = wall(world.url)
  const readPixels = async (work: Work) => await reader.areaPixels(await loadPicture(work), { w: work.w, h: work.h })
  expect(await readPixels(LIT)).not.toEqual(await readPixels(SIGN))
  const { blocks } = await readCanvas(world)
  const [first] = listAreaBlocks(SIGN)
  const { px = '' } = blocks.find(({ i }) => i === first) ?? {}
  expect([...Uint8Array.fromBase64(px).subarray(0, 10)]).toEqual([...(await readPixels(LIT)).subarray(0, 10)])
})

test('no two pictures of the exhibition share a block, and together they are centred on the wall', () => {
  const blocks = ALL.flatMap((work) => listAreaBlocks(work))
  expect(new Set(blocks).size).toBe(blocks.length)
  const computeMean = (axis: 'col' | 'row') =>
    blocks.reduce((sum, block) => sum + getCell(block)[axis], 0) / blocks.length
  expect(Math.abs(computeMean('col') - COLS / 2)).toBeLessThan(3)
  expect(Math.abs(computeMean('row') - ROWS / 2)).toBeLessThan(3)
})

test.each([...ALL, LIT].map((work) => [work.picture, work] as const))(
  'the picture %s has the size of its blocks and only colours of the palette',
  async (_, work) => {
    const plain = await new Bun.Image(await loadPicture(work)).png({ compressionLevel: 0 }).bytes()
    const { width, height, rgba } = readPlainPng(plain)
    expect([width, height]).toEqual([work.w * BLOCK_SIZE, work.h * BLOCK_SIZE])
    const shades = new Set<string>()
    for (let at = 0; at < rgba.length; at += 4) shades.add(Buffer.from(rgba.subarray(at, at + 3)).toString('hex'))
    const foreign = [...shades].filter((shade) => !PALETTE.includes(`#${shade}`))
    expect([foreign, shades.size > 1]).toEqual([[], true])
  },
)
