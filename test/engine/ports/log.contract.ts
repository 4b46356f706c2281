import { describe, expect } from 'bun:test'
import { catchFailure, reserveTarget, sellBlock, type Engine, type EngineTest } from '../../support/engine.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  toHash,
  createTestIdentity,
  createTestListing,
  NOW,
  createTestPayment,
  SILENT,
  createWalletAddress,
} from '../../support/samples.ts'

// Goal: the log holds every visible change once, in commit order, without a gap. Method: changes are made through the
// other ports and read back.

/** The suite of the `Log`, `LogCompaction` and `Store` ports. */
export function testLog(name: string, test: EngineTest): void {
  describe(`log on ${name}`, () => {
    testShortening(test)
    test('a sale is logged with its number, buyer and content at the time of the sale', async (wall) => {
      await sellBlock(wall, '3,4', 1, 1)
      const { name: buyer, framework, painter: _, ...content } = createTestListing()
      expect(await wall.log.readAfter(0, 9)).toEqual([
        {
          number: 1,
          at: NOW,
          kind: 'sale',
          seq: 1,
          block: parseBlockOrThrow('3,4'),
          content,
          agent: 1,
          wallet: createWalletAddress(1),
          profile: { name: buyer, framework },
        },
      ])
    })

    test('sales are numbered without gaps in the order in which they become final, and agents are numbered in the order of their first purchases', async (wall) => {
      const early = await reserveTarget(wall, 'next', createTestPayment(1, 1), SILENT)
      const given = await reserveTarget(wall, 'next', createTestPayment(2, 2), SILENT)
      await wall.ledger.release(given, true)
      await sellBlock(wall, 'next', 3, 3, SILENT)
      await wall.blocks.edit(
        (await sellBlock(wall, '3,4', 3, 4, SILENT)).block,
        createTestEdit(1, { message: 'x' }),
        NOW,
      )
      await wall.ledger.finalize(early, toHash(1), true, NOW)
      const log = await wall.log.readAfter(0, 9)
      expect(log.map(({ number }) => number)).toEqual([1, 2, 3, 4])
      expect(log.flatMap((change) => (change.kind === 'sale' ? [[change.seq, change.agent]] : []))).toEqual([
        [1, 1],
        [2, 1],
        [3, 2],
      ])
    })

    test('times in the log never decrease, even when the clock does', async (wall) => {
      const { block } = await sellBlock(wall, '3,4', 1, 1, SILENT, NOW)
      await wall.blocks.edit(block, createTestEdit(1, { message: 'x' }), NOW - 1000)
      await wall.agents.register(createWalletAddress(1), createTestIdentity(1, { name: 'Bob' }), NOW + 1)
      expect((await wall.log.readAfter(0, 9)).map(({ at }) => at)).toEqual([NOW, NOW, NOW + 1])
    })

    test('a reader that pages through the log misses nothing and gets nothing twice', async (wall) => {
      await writeHistory(wall)
      const whole = await wall.log.readAfter(0, 100)
      const pages = [await wall.log.readAfter(0, 3), await wall.log.readAfter(3, 3), await wall.log.readAfter(6, 3)]
      expect(pages.flat()).toEqual([...whole])
      expect(await wall.log.readAfter(whole.length, 3)).toEqual([])
    })

    test('the compacted log omits overwritten changes, and ends with the same entry as the log', async (wall) => {
      expect(await wall.log.readCompacted()).toEqual([])
      await writeHistory(wall)
      const whole = await wall.log.readAfter(0, 100)
      const compacted = await wall.log.readCompacted()
      expect(compacted.map(({ number, kind }) => [number, kind])).toEqual([
        [1, 'sale'],
        [3, 'repaint'],
        [5, 'identity'],
        [6, 'sale'],
        [7, 'repaint'],
      ])
      expect(compacted).toEqual(whole.filter(({ number }) => ![2, 4].includes(number)))
    })

    test('the store can be read and written while it is open, and every call fails as unavailable once it is closed', async (wall) => {
      expect([await wall.store.isReadable(), await wall.store.tryWrite()]).toEqual([true, null])
      await wall.close()
      expect(await wall.store.isReadable()).toBe(false)
      expect(await wall.store.tryWrite()).toMatchObject({ of: 'store-write' })
      expect(await catchFailure(wall.log.readAfter(0, 1))).toMatchObject({ name: 'StoreUnavailable' })
      expect(await catchFailure(wall.blocks.edit(parseBlockOrThrow('3,4'), createTestEdit(1), NOW))).toMatchObject({
        name: 'StoreUnavailable',
      })
    })
  })
}

/**
 * Makes seven changes: two sales, two repaints of the first block, one of the second block, and two changes of a name.
 */
async function writeHistory(wall: Engine): Promise<void> {
  const first = await sellBlock(wall, '3,4', 1, 1, SILENT)
  for (const digest of [1, 2])
    await wall.blocks.edit(first.block, createTestEdit(digest, { message: `${digest}` }), NOW)
  for (const digest of [3, 4])
    await wall.agents.register(createWalletAddress(1), createTestIdentity(digest, { name: `${digest}` }), NOW)
  const second = await sellBlock(wall, '5,6', 2, 2, SILENT)
  await wall.blocks.edit(second.block, createTestEdit(5, { message: 'x' }), NOW)
}

const HOUR_MS = 3_600_000

/** Makes a sale, three repaints in one hour and one in the next, hides a part, and sets two names. */
async function repaintForHours(wall: Engine): Promise<void> {
  const { block } = await sellBlock(wall, '3,4', 1, 1, SILENT, NOW)
  for (const [at, minutes] of [1, 2, 3, 61].entries())
    await wall.blocks.edit(block, { ...createTestEdit(at, { message: `${at}` }), ts: NOW }, NOW + minutes * 60_000)
  await wall.moderation.moderate(block, 'hide', ['message'], NOW + HOUR_MS + 120_000)
  for (const at of [9, 10])
    await wall.agents.register(createWalletAddress(1), createTestIdentity(at, { name: `${at}` }), NOW + 2 * HOUR_MS)
}

function testShortening(test: EngineTest): void {
  test('overwritten repaints and names can be dropped, and the other entries of the log keep their numbers', async (wall) => {
    await repaintForHours(wall)
    const outline = await wall.compaction.readOutline(0, 9)
    const [block, named] = [`block ${parseBlockOrThrow('3,4')}`, 'wallet 1']
    expect(outline.map(({ number, subject, superseded }) => [number, subject, superseded])).toEqual([
      [1, null, 0],
      [2, block, 1],
      [3, block, 1],
      [4, block, 1],
      [5, block, 0],
      [6, null, 0],
      [7, named, 1],
      [8, named, 0],
    ])
    expect(await wall.compaction.readOutline(2, 1)).toEqual([
      { number: 3, at: NOW + 120_000, subject: block, superseded: 1 },
    ])
    const before = await wall.log.readCompacted()
    await wall.compaction.dropEntries([2, 3, 7])
    expect((await wall.log.readAfter(0, 9)).map(({ number }) => number)).toEqual([1, 4, 5, 6, 8])
    expect(await wall.log.readCompacted()).toEqual(before)
    await sellBlock(wall, '5,6', 2, 2, SILENT, NOW + 3 * HOUR_MS)
    expect((await wall.log.readAfter(8, 9)).map(({ number }) => number)).toEqual([9])
  })

  test('only overwritten repaints and names can be dropped, and a request with one invalid number is rejected as a whole', async (wall) => {
    await repaintForHours(wall)
    const before = await wall.log.readAfter(0, 9)
    for (const numbers of [[1], [5], [6], [8], [2, 3, 8]])
      expect(await catchFailure(wall.compaction.dropEntries(numbers))).toBeDefined()
    expect(await wall.log.readAfter(0, 9)).toEqual(before)
  })
}
