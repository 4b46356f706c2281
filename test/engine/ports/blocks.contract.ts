import { describe, expect } from 'bun:test'
import { computeRetentionEnd } from '../../../server/domain/wall/edit.ts'
import { placeArea, listAreaBlocks } from '../../../shared/area.ts'
import { toBlockOrder, sliceBlockPixels } from '../../../shared/pixels.ts'
import { formatCoord } from '../../../shared/wall.ts'
import { reserveTarget, sellBlock, type Engine, type EngineTest } from '../../support/engine.ts'
import {
  parseAreaOrThrow,
  parseBlockOrThrow,
  createTestEdit,
  toHash,
  createTestListing,
  NOW,
  createTestPayment,
  createPixels,
  createWalletAddress,
} from '../../support/samples.ts'

// Goal: every promise of the `Blocks` port. Method: blocks are sold one by one, and repainted alone or as an area.

const block = parseBlockOrThrow('3,4')
const last = parseBlockOrThrow('5,5')
const area = parseAreaOrThrow('3,4,3x2')
const blocks = listAreaBlocks(area)

/** A picture in which no two blocks are equal. */
const pixels = toBlockOrder(
  Uint8Array.from({ length: 100 * blocks.length }, (_, at) => at % 240),
  area.w,
)

async function sellBlocks(wall: Engine, of = blocks, listing = createTestListing()): Promise<void> {
  for (const [at, each] of of.entries()) await sellBlock(wall, formatCoord(each), 1, at + 1, listing)
}

const readContents = async (wall: Engine) =>
  await Promise.all(blocks.map(async (each) => (await wall.blocks.findOwned(each))?.content))

/** The suite of the `Blocks` port. */
export function testBlocks(name: string, test: EngineTest): void {
  describe(`blocks on ${name}`, () => {
    testOwners(test)
    testEdits(test)
    testReplays(test)
    testPainters(test)
  })
}

function testOwners(test: EngineTest): void {
  test('a sold block has an owner, content and a transaction, and a held or open block has no owner', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    await reserveTarget(wall, parseBlockOrThrow('5,6'), createTestPayment(1, 2))
    expect(await wall.blocks.findOwned(block)).toEqual({
      block,
      wallet: createWalletAddress(1),
      profile: { name: 'Ada', framework: 'loom' },
      content: { pixels: createPixels(7), message: 'hello, wall', link: 'https://ada.example/' },
      claimedAt: NOW,
      tx: toHash(1),
      settled: true,
      isBound: false,
      painter: null,
    })
    for (const [coord, isHeld] of [
      ['5,6', true],
      ['7,8', false],
    ] as const) {
      expect(await wall.blocks.findOwned(parseBlockOrThrow(coord))).toBeUndefined()
      expect(await wall.blocks.isReserved(parseBlockOrThrow(coord))).toBe(isHeld)
    }
  })

  test('an area is owned if one wallet owns all its blocks; otherwise the result is an unowned block of the area, or several owners', async (wall) => {
    const readOwner = () => wall.blocks.findOwner(area)
    expect(await readOwner()).toEqual({ kind: 'open', block })
    await sellBlocks(wall, blocks.slice(0, 2))
    const held = await reserveTarget(wall, parseBlockOrThrow('5,4'), createTestPayment(1, 50))
    expect(await readOwner()).toEqual({ kind: 'held', block: parseBlockOrThrow('5,4') })
    await wall.ledger.release(held, true)
    expect(await readOwner()).toEqual({ kind: 'open', block: parseBlockOrThrow('5,4') })
    await sellBlock(wall, '5,4', 2, 51)
    for (const [at, coord] of ['3,5', '4,5', '5,5'].entries()) await sellBlock(wall, coord, 1, 60 + at)
    expect(await readOwner()).toEqual({ kind: 'several' })
    expect(await wall.blocks.findOwner(parseAreaOrThrow('3,5,3x1'))).toEqual({
      kind: 'owned',
      wallet: createWalletAddress(1),
      painter: null,
    })
  })
}

function testEdits(test: EngineTest): void {
  test('an edit sets the given fields, clears fields set to null, keeps the rest and is logged', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    const edit = createTestEdit(1, { pixels: createPixels(9), message: null })
    expect(await wall.blocks.edit(block, edit, NOW + 5)).toBe('applied')
    const content = { pixels: createPixels(9), message: null, link: 'https://ada.example/' }
    expect((await wall.blocks.findOwned(block))?.content).toEqual(content)
    expect(await wall.log.readAfter(1, 9)).toEqual([{ number: 2, at: NOW + 5, kind: 'repaint', block, content }])
  })

  test('an edit of an area gives each block its part of the picture, the same message and link, and an entry in the log', async (wall) => {
    await sellBlocks(wall)
    const edit = createTestEdit(1, { pixels, message: 'ours', link: null })
    expect(await wall.blocks.editArea(area, edit, NOW + 5)).toBe('applied')
    const contents = blocks.map((_, at) => ({ pixels: sliceBlockPixels(pixels, at), message: 'ours', link: null }))
    expect(await readContents(wall)).toEqual(contents)
    const entries = blocks.map((each, at) => ({
      number: 7 + at,
      at: NOW + 5,
      kind: 'repaint',
      block: each,
      content: contents[at],
    }))
    expect(await wall.log.readAfter(6, 99)).toEqual(entries as never)
  })

  test('a field that an edit of an area omits stays unchanged on each block', async (wall) => {
    await sellBlocks(wall)
    await wall.blocks.edit(block, createTestEdit(1, { message: 'mine' }), NOW)
    expect(await wall.blocks.editArea(area, createTestEdit(2, { link: null }), NOW)).toBe('applied')
    const contents = await readContents(wall)
    expect(contents.map((content) => content?.message)).toEqual(['mine', ...Array(5).fill('hello, wall')])
    expect(contents.every((content) => content?.link === null && content.pixels !== null)).toBe(true)
  })

  test('a block without an owner cannot be edited, even by the payer that it is held for, and neither can an area that contains it', async (wall) => {
    await sellBlocks(wall, blocks.slice(1))
    await reserveTarget(wall, block, createTestPayment(1, 50))
    const before = await readContents(wall)
    for (const unowned of [block, parseBlockOrThrow('5,6')])
      expect(await wall.blocks.edit(unowned, createTestEdit(1, { message: 'mine' }), NOW)).toBe('not-owned')
    expect(await wall.blocks.editArea(area, createTestEdit(1, { pixels }), NOW)).toBe('not-owned')
    expect(await readContents(wall)).toEqual(before)
    expect(await wall.log.readAfter(5, 9)).toEqual([])
  })

  test('an area of 20 blocks is repainted in one step, and a parallel purchase succeeds', async (wall) => {
    const large = placeArea(parseBlockOrThrow('40,30'), { w: 20, h: 1 }) ?? area
    await sellBlocks(wall, listAreaBlocks(large))
    const picture = toBlockOrder(new Uint8Array(2000).fill(9), large.w)
    const [edited, sold] = await Promise.all([
      wall.blocks.editArea(large, createTestEdit(1, { pixels: picture }), NOW),
      sellBlock(wall, '0,0', 2, 99),
    ])
    expect([edited, sold.state.kind]).toEqual(['applied', 'sold'])
    const numbers = (await wall.log.readAfter(0, 99)).map(({ number }) => number)
    expect(numbers).toEqual(Array.from({ length: 41 }, (_, at) => at + 1))
  })

  test('parallel repaints of two overlapping areas are all applied, one after the other', async (wall) => {
    await sellBlocks(wall)
    const areas = [parseAreaOrThrow('3,4,2x2'), parseAreaOrThrow('4,4,2x2')]
    const repaintArea = (at: number) =>
      wall.blocks.editArea(areas[at % 2] ?? area, createTestEdit(at + 1, { message: `${at}` }), NOW)
    expect(await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(repaintArea))).toEqual(Array(8).fill('applied'))
    const shown = await readContents(wall)
    expect(shown[1]?.message === shown[0]?.message || shown[1]?.message === shown[2]?.message).toBe(true)
    expect(await wall.log.readAfter(6, 99)).toHaveLength(32)
  })
}

function testReplays(test: EngineTest): void {
  test('an edit sent again changes nothing: it counts as repeated while it is the latest on every block, and otherwise as superseded', async (wall) => {
    await sellBlocks(wall)
    const paintArea = (digest: number) => wall.blocks.editArea(area, createTestEdit(digest, { pixels }), NOW)
    const editLast = () => wall.blocks.edit(last, createTestEdit(2, { pixels: createPixels(1) }), NOW)
    expect([await paintArea(1), await paintArea(1)]).toEqual(['applied', 'repeated'])
    expect([await editLast(), await editLast()]).toEqual(['applied', 'repeated'])
    expect(await paintArea(1)).toBe('superseded')
    expect(await paintArea(3)).toBe('applied')
    expect([await paintArea(1), await editLast(), await paintArea(3)]).toEqual(['superseded', 'superseded', 'repeated'])
    expect(await wall.log.readAfter(6, 99)).toHaveLength(13)
  })

  test('an edit signed before the last edit of any of its blocks is superseded, and one signed at the same time as the last edit is applied', async (wall) => {
    await sellBlocks(wall)
    const paint = (digest: number, ts: number) =>
      wall.blocks.editArea(area, { ...createTestEdit(digest, { pixels }), ts }, NOW)
    const editLastMessage = (digest: number, ts: number) =>
      wall.blocks.edit(last, { ...createTestEdit(digest, { message: `${digest}` }), ts }, NOW)
    expect([
      await editLastMessage(1, NOW - 5),
      await editLastMessage(2, NOW - 6),
      await editLastMessage(3, NOW - 5),
    ]).toEqual(['applied', 'superseded', 'applied'])
    expect([await paint(4, NOW - 6), await paint(5, NOW - 4)]).toEqual(['superseded', 'applied'])
    expect([await editLastMessage(6, NOW - 5), await editLastMessage(7, NOW - 4)]).toEqual(['superseded', 'applied'])
    expect((await wall.blocks.findOwned(last))?.content.message).toBe('7')
  })

  test('an edit signed with a fast clock does not block edits that are signed after it was applied', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    const editMessage = (digest: number, ts: number, now: number) =>
      wall.blocks.edit(block, { ...createTestEdit(digest, { message: `${digest}` }), ts }, now)
    expect(await editMessage(1, NOW + 200_000, NOW)).toBe('applied')
    expect([await editMessage(2, NOW - 1, NOW + 1), await editMessage(3, NOW, NOW + 1)]).toEqual([
      'superseded',
      'applied',
    ])
  })

  test('an edit that was applied to one block can still be applied to another block', async (wall) => {
    await sellBlocks(wall)
    const paintMessage = (each = block) => wall.blocks.edit(each, createTestEdit(1, { message: 'a' }), NOW)
    expect([await paintMessage(), await paintMessage(last), await paintMessage()]).toEqual([
      'applied',
      'applied',
      'repeated',
    ])
  })

  test('a repeated edit is recognised until the edit expires, and is applied again after that', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    const [older, newer] = [createTestEdit(1, { message: 'older' }), createTestEdit(2, { message: 'newer' })]
    await wall.blocks.edit(block, older, NOW)
    await wall.blocks.edit(block, newer, computeRetentionEnd(NOW))
    expect(await wall.blocks.edit(block, older, computeRetentionEnd(NOW))).toBe('superseded')
    await wall.blocks.edit(block, createTestEdit(3, { message: 'newest' }), computeRetentionEnd(NOW) + 1)
    expect(await wall.blocks.edit(block, older, NOW)).toBe('applied')
  })
}

function testPainters(test: EngineTest): void {
  test('a painter can paint an area, and is returned as the painter of the area, only if it can paint every block in it', async (wall) => {
    const painted = createTestListing({ painter: createWalletAddress(9) })
    await sellBlocks(wall, blocks, painted)
    const paint = (digest: number, painter: number) =>
      wall.blocks.editArea(area, createTestEdit(digest, { pixels, painter: createWalletAddress(painter) }), NOW)
    expect(await wall.blocks.findOwner(area)).toEqual({
      kind: 'owned',
      wallet: createWalletAddress(1),
      painter: createWalletAddress(9),
    })
    expect([await paint(1, 9), await paint(2, 8)]).toEqual(['applied', 'not-painter'])
    await wall.agents.namePainter(createWalletAddress(1), { painter: createWalletAddress(8), ts: NOW })
    expect(await wall.blocks.findOwner(area)).toHaveProperty('painter', createWalletAddress(8))
    expect([await paint(3, 9), await paint(4, 8)]).toEqual(['not-painter', 'applied'])
    await sellBlock(wall, '6,4', 1, 30, painted)
    const wider = parseAreaOrThrow('5,4,2x1')
    expect(await wall.blocks.findOwner(wider)).toEqual({ kind: 'owned', wallet: createWalletAddress(1), painter: null })
    for (const painter of [createWalletAddress(8), createWalletAddress(9)])
      expect(await wall.blocks.editArea(wider, createTestEdit(5, { message: 'x', painter }), NOW)).toBe('not-painter')
  })
}
