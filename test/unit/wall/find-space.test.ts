import { expect, test } from 'bun:test'
import { createEmptyView } from '../../../server/domain/wall/wall-view.ts'
import { createSpaceFinder, createTakenBlocks } from '../../../server/wall/open-blocks.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { OFFER } from '../../support/offer.ts'
import { parseBlockOrThrow } from '../../support/samples.ts'

// Goal: a search scans the wall only if a block has been taken or released since the last scan. Method: count reads,
// and compare the identities of results.

const failIfCalled = () => Promise.reject(new Error('not asked'))

/** A reader of taken blocks: no block is sold, and `held` returns the held ones. */
const createTakenReader = (held: () => Promise<BlockIndex[]>) =>
  createTakenBlocks({
    view: createEmptyView(),
    ledgerReader: {
      listHeld: held,
      countPending: failIfCalled,
      readAccount: failIfCalled,
      listPurchases: failIfCalled,
      listSold: failIfCalled,
      listOwed: failIfCalled,
    },
    applyNewEntries: async () => {},
  })

function createCountedReader() {
  const held: BlockIndex[] = []
  let reads = 0
  const taken = createTakenReader(async () => {
    reads++
    return [...held]
  })
  return { held, taken, reads: () => reads }
}

const WISH = { w: 2, h: 2, near: parseBlockOrThrow('0,0'), limit: 1 }

test('a repeated search returns the cached result until a block is taken or released', async () => {
  const { held, taken } = createCountedReader()
  const find = createSpaceFinder(taken, OFFER)
  const first = await find(WISH)
  expect(await find(WISH)).toBe(first)
  expect(await find({ ...WISH, limit: 2 })).not.toEqual(first)
  held.push(parseBlockOrThrow('0,0'))
  expect((await find(WISH)).spaces).toMatchObject([{ coord: '1,0' }])
  held.pop()
  expect(await find(WISH)).toEqual(first)
})

test('searches that run at the same time share one read of the held blocks, and a later search gets a newer read', async () => {
  const { held, taken, reads } = createCountedReader()
  const early = [taken(), taken(), taken()]
  await early[0]
  expect(reads()).toBe(1)
  const under = taken()
  await Promise.resolve()
  await Promise.resolve()
  await Promise.resolve()
  held.push(parseBlockOrThrow('5,5'))
  const late = taken()
  expect([(await late).has(parseBlockOrThrow('5,5')), reads()]).toEqual([true, 3])
  await under
})

test('a failed read is not cached', async () => {
  let broken = true
  const failing = createTakenReader(() => (broken ? Promise.reject(new Error('no store')) : Promise.resolve([])))
  await expect(failing()).rejects.toThrow('no store')
  broken = false
  expect((await failing()).has(parseBlockOrThrow('1,1'))).toBe(false)
})
