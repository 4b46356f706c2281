import { describe, expect } from 'bun:test'
import { areaAt, blocksOf, parseArea, type Area } from '../../../shared/area.ts'
import { blockwise, partOf } from '../../../shared/pixels.ts'
import { coordOf, type BlockIndex } from '../../../shared/wall.ts'
import { hold, sell, type Engine, type EngineTest } from '../../support/engine.ts'
import { blockOf, editOf, listingOf, NOW, paymentOf, pixelsOf, SILENT, wallet } from '../../support/samples.ts'

// Goal: every promise of the `Blocks` port about areas. Method: blocks are sold one by one, and repainted as an area.

const area: Area = parseArea('3,4,3x2') ?? expect.unreachable()
const blocks = blocksOf(area)
const [first, second] = blocks

/** A picture of which no two blocks are alike. */
const pixels = blockwise(
  Uint8Array.from({ length: 100 * blocks.length }, (_, at) => at % 240),
  area.w,
)

async function sellAll(wall: Engine, payer = 1, of = blocks, from = 1): Promise<void> {
  for (const [at, block] of of.entries()) await sell(wall, coordOf(block), payer, from + at)
}

const contentsOf = async (wall: Engine) =>
  await Promise.all(blocks.map(async (block) => (await wall.blocks.owned(block))?.content))

/** The suite of areas that are repainted. */
export function areaEditsContract(name: string, test: EngineTest): void {
  describe(`areas repainted on ${name}`, () => {
    owners(test)
    edits(test)
    repeats(test)
    painters(test)
  })
}

function owners(test: EngineTest): void {
  test('an area is of the one wallet that owns every block, or else it tells what is in the way', async (wall) => {
    const owner = () => wall.blocks.ownerOf(area)
    expect(await owner()).toEqual({ kind: 'open', block: blockOf('3,4') })
    const [, , third, ...others] = blocks
    await sellAll(wall, 1, blocks.slice(0, 2))
    const held = await hold(wall, third ?? expect.unreachable(), paymentOf(1, 50))
    expect(await owner()).toEqual({ kind: 'held', block: blockOf('5,4') })
    await wall.ledger.release(held, true)
    expect(await owner()).toEqual({ kind: 'open', block: blockOf('5,4') })
    await sell(wall, '5,4', 2, 51)
    await sellAll(wall, 1, others, 60)
    expect(await owner()).toEqual({ kind: 'several' })
    expect(await wall.blocks.ownerOf(parseArea('3,5,3x1') ?? expect.unreachable())).toEqual({
      kind: 'owned',
      wallet: wallet(1),
      painter: null,
    })
  })

  test('a painter paints an area when it paints every block of it', async (wall) => {
    const painted = listingOf({ painter: wallet(9) })
    for (const [at, block] of blocks.entries()) await sell(wall, coordOf(block), 1, at + 1, painted)
    expect(await wall.blocks.ownerOf(area)).toEqual({ kind: 'owned', wallet: wallet(1), painter: wallet(9) })
    await wall.agents.namePainter(wallet(1), { painter: null, ts: NOW })
    expect(await wall.blocks.ownerOf(area)).toHaveProperty('painter', null)
    await sell(wall, '6,4', 1, 30, painted)
    const wider = parseArea('5,4,2x1') ?? expect.unreachable()
    expect(await wall.blocks.ownerOf(wider)).toEqual({ kind: 'owned', wallet: wallet(1), painter: null })
  })
}

function edits(test: EngineTest): void {
  test('each block gets its part of the picture, message and link as they are, and an entry of the log', async (wall) => {
    await sellAll(wall)
    const edit = editOf(1, { pixels, message: 'ours', link: null })
    expect(await wall.blocks.editArea(area, edit, NOW + 5)).toBe('applied')
    const contents = blocks.map((_, at) => ({ pixels: partOf(pixels, at), message: 'ours', link: null }))
    expect(await contentsOf(wall)).toEqual(contents)
    expect(await wall.log.after(6, 99)).toEqual(
      blocks.map(
        (block, at) => ({ number: 7 + at, at: NOW + 5, kind: 'repaint', block, content: contents[at] }) as never,
      ),
    )
  })

  test('what an edit leaves out is kept, of each block its own', async (wall) => {
    await sellAll(wall)
    await wall.blocks.edit(first ?? expect.unreachable(), editOf(1, { message: 'mine' }), NOW)
    expect(await wall.blocks.editArea(area, editOf(2, { link: null }), NOW)).toBe('applied')
    const contents = await contentsOf(wall)
    expect(contents.map((content) => content?.message)).toEqual(['mine', ...Array(5).fill('hello, wall')])
    expect(contents.every((content) => content?.link === null && content.pixels !== null)).toBe(true)
  })

  test('an area of which a block is not sold is left as it was, all of it', async (wall) => {
    await sellAll(wall, 1, blocks.slice(1))
    await hold(wall, first ?? expect.unreachable(), paymentOf(1, 50))
    const before = await contentsOf(wall)
    expect(await wall.blocks.editArea(area, editOf(1, { pixels }), NOW)).toBe('not-owned')
    expect(await contentsOf(wall)).toEqual(before)
    expect(await wall.log.after(5, 9)).toEqual([])
  })

  test('what is hidden of a block stays so', async (wall) => {
    await sellAll(wall)
    await wall.moderation.moderate(second ?? expect.unreachable(), 'hide', ['message'], NOW)
    await wall.blocks.editArea(area, editOf(1, { message: 'new' }), NOW)
    const told = [...Array(6).keys()].map((at) => (at === 1 ? null : 'new'))
    expect((await contentsOf(wall)).map((content) => content?.message)).toEqual(told)
    const entries = await wall.log.after(7, 9)
    expect(entries.map((entry) => (entry.kind === 'repaint' ? entry.content.message : undefined))).toEqual(told)
  })

  test('the largest area is repainted at once, and a purchase beside it goes on', async (wall) => {
    const large = areaAt(blockOf('40,30'), { w: 20, h: 1 }) ?? expect.unreachable()
    const row = blocksOf(large)
    await sellAll(wall, 1, row)
    const picture = blockwise(new Uint8Array(100 * row.length).fill(9), large.w)
    const [edited, sold] = await Promise.all([
      wall.blocks.editArea(large, editOf(1, { pixels: picture }), NOW),
      sell(wall, '0,0', 2, 99),
    ])
    expect([edited, sold.state.kind]).toEqual(['applied', 'sold'])
    expect((await wall.log.after(0, 99)).map(({ number }) => number)).toEqual(
      Array.from({ length: 41 }, (_, at) => at + 1),
    )
  })

  test('two areas that overlap are repainted one after the other, whatever their order', async (wall) => {
    await sellAll(wall)
    const [left, right] = ['3,4,2x2', '4,4,2x2'].map((name) => parseArea(name) ?? expect.unreachable())
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        wall.blocks.editArea((at % 2 === 0 ? left : right) ?? area, editOf(at + 1, { message: `${at}` }), NOW),
      ),
    )
    expect(results).toEqual(Array(8).fill('applied'))
    const shown = await contentsOf(wall)
    expect(shown[1]?.message === shown[0]?.message || shown[1]?.message === shown[2]?.message).toBe(true)
    expect(await wall.log.after(6, 99)).toHaveLength(32)
  })
}

function repeats(test: EngineTest): void {
  const change = async (wall: Engine, block: BlockIndex | undefined, digest: number) =>
    await wall.blocks.edit(block ?? expect.unreachable(), editOf(digest, { pixels: pixelsOf(1) }), NOW)

  test('the same edit again changes nothing: repeated while it is the latest of every block, else superseded', async (wall) => {
    await sellAll(wall)
    const paint = () => wall.blocks.editArea(area, editOf(1, { pixels }), NOW)
    expect([await paint(), await paint()]).toEqual(['applied', 'repeated'])
    expect(await change(wall, blocks.at(-1), 2)).toBe('applied')
    expect(await paint()).toBe('superseded')
    expect(await wall.blocks.editArea(area, editOf(3, { pixels }), NOW)).toBe('applied')
    expect([await paint(), await change(wall, blocks.at(-1), 2)]).toEqual(['superseded', 'superseded'])
    expect(await wall.log.after(6, 99)).toHaveLength(13)
  })

  test('an edit signed before the last one of any of its blocks comes too late, and so does a block’s before its area’s', async (wall) => {
    await sellAll(wall)
    const [last = expect.unreachable()] = blocks.slice(-1)
    const paint = (digest: number, ts: number) => wall.blocks.editArea(area, { ...editOf(digest, { pixels }), ts }, NOW)
    const edit = (digest: number, ts: number) =>
      wall.blocks.edit(last, { ...editOf(digest, { message: `${digest}` }), ts }, NOW)
    expect([await edit(1, NOW - 5), await paint(2, NOW - 6), await paint(3, NOW - 4)]).toEqual([
      'applied',
      'superseded',
      'applied',
    ])
    expect([await edit(4, NOW - 5), await edit(5, NOW - 4)]).toEqual(['superseded', 'applied'])
  })

  test('an edit of a block is superseded by one of an area that holds it', async (wall) => {
    await sellAll(wall)
    expect(await change(wall, second, 2)).toBe('applied')
    await wall.blocks.editArea(area, editOf(1, { message: 'ours' }), NOW)
    expect(await change(wall, second, 2)).toBe('superseded')
  })
}

function painters(test: EngineTest): void {
  test('a painter repaints an area while it paints every block of it', async (wall) => {
    for (const [at, block] of blocks.entries())
      await sell(wall, coordOf(block), 1, at + 1, { ...SILENT, painter: wallet(9) })
    const paint = (digest: number, painter: number) =>
      wall.blocks.editArea(area, editOf(digest, { pixels, painter: wallet(painter) }), NOW)
    expect([await paint(1, 9), await paint(2, 8)]).toEqual(['applied', 'not-painter'])
    await wall.agents.namePainter(wallet(1), { painter: wallet(8), ts: NOW })
    expect([await paint(3, 9), await paint(4, 8)]).toEqual(['not-painter', 'applied'])
    await sell(wall, '6,4', 1, 30, { ...SILENT, painter: wallet(9) })
    const wider = parseArea('5,4,2x1') ?? expect.unreachable()
    for (const painter of [wallet(8), wallet(9)])
      expect(await wall.blocks.editArea(wider, editOf(5, { message: 'x', painter }), NOW)).toBe('not-painter')
  })
}
