import { describe, expect } from 'bun:test'
import { StaleWriteError } from '../../../server/domain/failure.ts'
import { createTarget, type Target } from '../../../server/domain/purchase/target.ts'
import { listAreaBlocks } from '../../../shared/area.ts'
import { sliceBlockPixels, trustPixels, type Pixels } from '../../../shared/pixels.ts'
import { formatCoord, type BlockIndex } from '../../../shared/wall.ts'
import {
  catchFailure,
  reserveTarget,
  sellBlock,
  findStoredPurchase,
  type Engine,
  type EngineTest,
  recordLatePayment,
} from '../../support/engine.ts'
import {
  parseAreaOrThrow,
  parseBlockOrThrow,
  toHash,
  HEAD,
  createTestListing,
  NOW,
  createTestPayment,
  SILENT,
  createWalletAddress,
} from '../../support/samples.ts'

// Goal: an area is held, sold and released whole, whatever the outcome of its purchase. Method: each test uses a new
// engine through its ports; `testLast` gives a wall with only one open block.

/** The suite of areas, for the ledger and its readers. */
export function testAreas(name: string, test: EngineTest, testLast: EngineTest): void {
  describe(`areas on ${name}`, () => {
    testHolding(test)
    testNearest(test, testLast)
    testSearching(test)
    testSelling(test)
    testReleasing(test)
    testLatePayments(test, testLast)
    testPriors(test)
    testLimits(test)
  })
}

const listBlocks = (name: string): readonly BlockIndex[] => listAreaBlocks(parseAreaOrThrow(name))

/** Pixels of this many blocks, each with a colour of its own. */
const createPicture = (blocks: number): Pixels =>
  trustPixels(
    Uint8Array.from({ length: blocks * 100 }, (_, i) => Math.floor(i / 100) % 240),
    blocks,
  )

const readStates = ({ ledger }: Pick<Engine, 'ledger'>, name: string) =>
  Promise.all(listBlocks(name).map((block) => ledger.checkSpace(block)))

const claimTarget = ({ ledger }: Pick<Engine, 'ledger'>, target: Target, payer: number, nonce = payer) =>
  ledger.claim(target, createTestPayment(payer, nonce), SILENT, HEAD, NOW, [])

function testHolding(test: EngineTest): void {
  test('a claim of an area holds every block of the area, and stores the listing of the order', async (wall) => {
    const listing = createTestListing({ pixels: createPicture(12) })
    const held = await reserveTarget(wall, '80,45,4x3', createTestPayment(1, 1), listing)
    expect(held).toMatchObject({ target: '80,45,4x3', block: parseBlockOrThrow('80,45'), state: { kind: 'reserved' } })
    expect(await findStoredPurchase(wall, held.payment)).toEqual(held)
    expect(held.listing).toEqual(listing)
    expect(await readStates(wall, '80,45,4x3')).toEqual(Array.from({ length: 12 }, () => 'reserved'))
    expect(await wall.ledger.checkSpace('80,45,4x3')).toBe('reserved')
    expect(await wall.ledgerReader.listHeld()).toEqual(listBlocks('80,45,4x3'))
    expect(await wall.ledgerReader.countPending()).toMatchObject({ held: 1 })
    expect(await wall.ledger.listHolders('80,45,4x3')).toEqual([{ payer: createWalletAddress(1), nonce: toHash(1) }])
    expect(await wall.ledger.listHolders(parseBlockOrThrow('80,45'))).toEqual([])
    expect(await wall.ledger.listHolders('80,45,4x2')).toEqual([])
  })

  test('no other payer can claim any block of a held area, whatever the target', async (wall) => {
    await reserveTarget(wall, '80,45,4x3', createTestPayment(1, 1), SILENT)
    const [inside, corner, within, around, same] = [
      parseBlockOrThrow('83,47'),
      '83,47,2x2',
      '81,46,2x1',
      '79,44,6x5',
      '80,45,4x3',
    ] as const
    for (const target of [inside, corner, within, around, same]) {
      expect(await wall.ledger.checkSpace(target)).toBe('reserved')
      expect(await claimTarget(wall, target, 2)).toEqual({ kind: 'lost', space: 'reserved' })
    }
    expect(await wall.ledger.find(createTestPayment(2, 2))).toBeUndefined()
    expect(await wall.ledgerReader.listHeld()).toEqual(listBlocks('80,45,4x3'))
  })

  test('an area with a sold or held block cannot be claimed, and none of its open blocks becomes held', async (wall) => {
    await sellBlock(wall, '81,46', 1, 1)
    expect(await wall.ledger.checkSpace('80,45,4x3')).toBe('claimed')
    expect(await claimTarget(wall, '80,45,4x3', 2)).toEqual({ kind: 'lost', space: 'claimed' })
    await reserveTarget(wall, parseBlockOrThrow('10,10'), createTestPayment(3, 3))
    expect(await claimTarget(wall, '9,9,2x2', 2)).toEqual({ kind: 'lost', space: 'reserved' })
    expect(await wall.ledgerReader.listHeld()).toEqual([parseBlockOrThrow('10,10')])
  })

  test('parallel overlapping orders each hold their whole area or nothing, and share no block', async (wall) => {
    const targets = ['80,45,4x3', '82,46,3x3', '78,44,3x2', '83,47,1x2', 'next,3x2', 'next,2x2'] as const
    const claims = await Promise.all(
      [...targets, parseBlockOrThrow('81,46'), parseBlockOrThrow('84,48')].map((target, i) =>
        claimTarget(wall, target, i + 1),
      ),
    )
    const held = claims.flatMap((claimed) => (claimed.kind === 'claimed' ? [claimed.purchase] : []))
    const blocks = held.flatMap(({ target, block }) =>
      typeof target === 'number' ? [target] : listBlocks(`${formatCoord(block)},${target.split(',').at(-1)}`),
    )
    expect(held.length).toBeGreaterThan(1)
    expect(new Set(blocks).size).toBe(blocks.length)
    expect(await wall.ledgerReader.listHeld()).toEqual(blocks.toSorted((a, b) => a - b))
  })
}

function testNearest(test: EngineTest, testLast: EngineTest): void {
  test('the nearest open area is the one whose centre is nearest the centre of the wall, and in a tie, the one with the lowest first block', async (wall) => {
    const first = await reserveTarget(wall, 'next,4x3', createTestPayment(1, 1), SILENT)
    expect(formatCoord(first.block)).toBe('78,43')
    const second = await reserveTarget(wall, 'next,4x3', createTestPayment(2, 2), SILENT)
    expect(formatCoord(second.block)).toBe('78,46')
    const third = await reserveTarget(wall, 'next,2x2', createTestPayment(3, 3), SILENT)
    expect(formatCoord(third.block)).toBe('79,41')
  })

  testLast('an area of two blocks is unavailable if only one block is open or all are sold', async (wall) => {
    expect(await wall.ledger.checkSpace('next')).toBe('open')
    expect(await wall.ledger.checkSpace('next,2x1')).toBe('crowded')
    expect(await claimTarget(wall, 'next,2x1', 1)).toEqual({ kind: 'lost', space: 'crowded' })
    await sellBlock(wall, 'next', 1, 1)
    expect(await wall.ledger.checkSpace('next,2x1')).toBe('claimed')
  })

  test('an area that will fit only after held blocks are released counts as reserved', async (wall) => {
    await reserveTarget(wall, '0,0,160x1', createTestPayment(1, 1), SILENT)
    expect(await wall.ledger.checkSpace('next,4x90')).toBe('reserved')
    expect(await wall.ledger.checkSpace('next,4x89')).toBe('open')
  })
}

/** A target that fits only where two adjacent rows of the wall are entirely open. */
const WIDEST = 'next,160x2'

function testSearching(test: EngineTest): void {
  test('each search sees what was held, released and sold since the previous search', async (wall) => {
    const { ledger } = wall
    const first = await reserveTarget(wall, WIDEST, createTestPayment(1, 1), SILENT)
    expect(formatCoord(first.block)).toBe('0,44')
    expect(await ledger.checkSpace(WIDEST)).toBe('open')
    await sellBlock(wall, '80,43', 2, 2)
    const second = await reserveTarget(wall, WIDEST, createTestPayment(3, 3), SILENT)
    expect(formatCoord(second.block)).toBe('0,46')
    await ledger.release(first, false)
    expect(await ledger.checkSpace(WIDEST)).toBe('open')
    await ledger.finalize(second, toHash(3), true, NOW)
    expect(formatCoord((await reserveTarget(wall, WIDEST, createTestPayment(4, 4), SILENT)).block)).toBe('0,44')
    expect(formatCoord((await reserveTarget(wall, WIDEST, createTestPayment(5, 5), SILENT)).block)).toBe('0,41')
  })

  test('a sale that fails leaves its blocks available to the next search', async (wall) => {
    const { ledger } = wall
    expect(await ledger.checkSpace(WIDEST)).toBe('open')
    const held = await reserveTarget(wall, WIDEST, createTestPayment(1, 1), SILENT)
    await ledger.release(held, false)
    expect(await catchFailure(ledger.finalize(held, toHash(1), true, NOW))).toBeInstanceOf(StaleWriteError)
    expect(formatCoord((await reserveTarget(wall, WIDEST, createTestPayment(2, 2), SILENT)).block)).toBe('0,44')
  })
}

function testSelling(test: EngineTest): void {
  test('the sale of an area gives the payer each block with its part of the picture, and logs one sale per block, in order', async (wall) => {
    await sellBlock(wall, '3,4', 9, 9)
    const listing = createTestListing({ pixels: createPicture(6) })
    const held = await reserveTarget(wall, '80,45,3x2', createTestPayment(1, 1), listing)
    const sold = await wall.ledger.finalize(held, toHash(1), true, NOW + 5)
    expect(sold).toMatchObject({ target: '80,45,3x2', state: { kind: 'sold', tx: toHash(1), claimedAt: NOW + 5 } })
    expect(await findStoredPurchase(wall, held.payment)).toEqual(sold)
    const changes = await wall.log.readAfter(1, 99)
    expect(changes.map(({ number, at }) => [number, at])).toEqual([2, 3, 4, 5, 6, 7].map((n) => [n, NOW + 5]))
    for (const [i, block] of listBlocks('80,45,3x2').entries()) {
      const content = {
        pixels: sliceBlockPixels(createPicture(6), i),
        message: 'hello, wall',
        link: 'https://ada.example/',
      }
      expect(changes[i]).toMatchObject({ kind: 'sale', seq: 2 + i, block, content, wallet: createWalletAddress(1) })
      expect(await wall.blocks.findOwned(block)).toMatchObject({
        wallet: createWalletAddress(1),
        tx: toHash(1),
        settled: true,
        content,
      })
    }
    expect(await wall.log.readCompacted()).toHaveLength(7)
    expect(await sellBlock(wall, 'next', 2, 2)).toMatchObject({ state: { kind: 'sold' } })
    expect((await wall.log.readAfter(7, 9)).map((change) => 'seq' in change && change.seq)).toEqual([8])
  })

  test('the account of a payer lists each block of an area, page by page', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    await wall.ledger.finalize(
      await reserveTarget(wall, '80,45,3x2', createTestPayment(1, 2), SILENT),
      toHash(2),
      true,
      NOW,
    )
    await reserveTarget(wall, 'next,2x2', createTestPayment(1, 3), SILENT)
    const all = await wall.ledgerReader.readAccount(createWalletAddress(1))
    expect(all.sales.map(({ block }) => block)).toEqual([parseBlockOrThrow('3,4'), ...listBlocks('80,45,3x2')])
    expect(all.sales.map(({ area }) => area)).toEqual([
      null,
      ...listBlocks('80,45,3x2').map(() => '80,45,3x2' as const),
    ])
    expect(all.open).toMatchObject([{ target: 'next,2x2', state: { kind: 'reserved' } }])
    const page = await wall.ledgerReader.readAccount(createWalletAddress(1), { after: 3, limit: 2 })
    expect(page).toMatchObject({ nextAfter: 5, hasMore: true })
    expect(page.sales.map(({ block }) => formatCoord(block))).toEqual(['82,45', '80,46'])
  })
}

function testReleasing(test: EngineTest): void {
  test('a release frees every block of an area, and the same payment can hold the area again', async (wall) => {
    const held = await reserveTarget(wall, '80,45,4x3', createTestPayment(1, 1), SILENT)
    await wall.ledger.release(held, false)
    expect(await wall.ledgerReader.listHeld()).toEqual([])
    expect(await wall.ledger.checkSpace('80,45,4x3')).toBe('open')
    expect(await findStoredPurchase(wall, held.payment)).toMatchObject({
      target: '80,45,4x3',
      state: { kind: 'released' },
    })
    expect(await reserveTarget(wall, '80,45,4x3', createTestPayment(1, 1), SILENT)).toMatchObject({
      state: { attempt: 2 },
    })
    expect(await wall.ledgerReader.listHeld()).toEqual(listBlocks('80,45,4x3'))
  })
}

function testLatePayments(test: EngineTest, testLast: EngineTest): void {
  const releaseOn = async (wall: Engine, target: Target) => {
    const held = await reserveTarget(
      wall,
      target,
      createTestPayment(1, 1),
      createTestListing({ pixels: createPicture(4) }),
    )
    await wall.ledger.release(held, false)
    return held
  }

  test('a late payment for an area gets the blocks of that area while they are open', async (wall) => {
    const held = await releaseOn(wall, '10,10,2x2')
    expect(await wall.ledger.fulfilLatePayment(held, toHash(1), NOW)).toMatchObject({
      block: parseBlockOrThrow('10,10'),
      state: { kind: 'sold' },
    })
    expect(await readStates(wall, '10,10,2x2')).toEqual(['claimed', 'claimed', 'claimed', 'claimed'])
  })

  test('a late payment for an area gets the nearest open area of the same size if one of the ordered blocks is taken', async (wall) => {
    const held = await releaseOn(wall, '10,10,2x2')
    await sellBlock(wall, '11,11', 2, 2)
    const given = await wall.ledger.fulfilLatePayment(held, toHash(1), NOW)
    expect(given).toMatchObject({ target: '10,10,2x2', block: parseBlockOrThrow('79,44'), state: { kind: 'sold' } })
    expect(await readStates(wall, '10,10,2x2')).toEqual(['open', 'open', 'open', 'claimed'])
    expect(await readStates(wall, '79,44,2x2')).toEqual(['claimed', 'claimed', 'claimed', 'claimed'])
    expect(await wall.ledger.fulfilLatePayment(held, toHash(1), NOW)).toEqual(given)
  })

  testLast(
    'a late payment for an area becomes one credit for the whole amount if no open area of the same size is left',
    async (wall) => {
      const payment = createTestPayment(5001, 1, {
        amount: 2_000_000n,
        accepted: { ...createTestPayment(1, 1).accepted, amount: 2_000_000n },
      })
      const landed = { payment, target: 'next,2x1', listing: SILENT, head: HEAD } as const
      const given = await recordLatePayment(wall, landed, toHash(1))
      expect(given.state).toEqual({ kind: 'credited', tx: toHash(1) })
      expect(await wall.ledger.checkSpace('next')).toBe('open')
      expect((await wall.ledgerReader.readAccount(payment.payer)).credits).toEqual([
        { amount: 2_000_000n, tx: toHash(1) },
      ])
    },
  )
}

function testPriors(test: EngineTest): void {
  test('a payer that orders the same area or size again gets its unanswered purchase, and any other order starts a new purchase', async (wall) => {
    const { ledger } = wall
    const findPriorNonce = async (target: Target, nonce = 9) =>
      (await ledger.checkAvailability(target, createTestPayment(1, nonce), NOW, [])).prior?.payment.nonce
    await ledger.markUncertain(await reserveTarget(wall, 'next,2x2', createTestPayment(1, 1), SILENT))
    expect(await findPriorNonce('next,2x2')).toBe(toHash(1))
    for (const target of ['next', 'next,2x1', 'next,4x1', '79,44,2x2', parseBlockOrThrow('79,44')] as const)
      expect(await findPriorNonce(target)).toBeUndefined()
    expect(await claimTarget(wall, 'next,2x2', 1, 9)).toEqual({ kind: 'prior' })
    const held = await findStoredPurchase(wall, createTestPayment(1, 1))
    await ledger.finalize(held, toHash(1), true, NOW)
    expect(await findPriorNonce(createTarget(held.block, { w: 2, h: 2 }))).toBe(toHash(1))
    expect(await findPriorNonce(held.block)).toBeUndefined()
    await ledger.markAnswered(held.payment)
    expect(await findPriorNonce('next,2x2')).toBeUndefined()
  })
}

function testLimits(test: EngineTest): void {
  test('a payer can hold at most 400 blocks, whatever the targets', async (wall) => {
    await reserveTarget(wall, '0,0,20x19', createTestPayment(1, 1), SILENT)
    await reserveTarget(wall, '30,0,19x1', createTestPayment(1, 2), SILENT)
    expect((await wall.ledger.checkAvailability('next,2x1', createTestPayment(1, 3), NOW, [])).space).toBe('full')
    const beside = [toHash(1), toHash(2)]
    expect(await wall.ledger.claim('next,2x1', createTestPayment(1, 3), SILENT, HEAD, NOW, beside)).toEqual({
      kind: 'lost',
      space: 'full',
    })
    await reserveTarget(wall, 'next', createTestPayment(1, 4), SILENT)
    expect((await wall.ledger.checkAvailability('next', createTestPayment(1, 5), NOW, [])).space).toBe('full')
    expect((await wall.ledger.checkAvailability('next,20x20', createTestPayment(2, 5), NOW, [])).space).toBe('open')
  })

  test('an area of 400 blocks is held and sold whole, with a log entry for each block', async (wall) => {
    const held = await reserveTarget(
      wall,
      'next,20x20',
      createTestPayment(1, 1),
      createTestListing({ pixels: createPicture(400) }),
    )
    await wall.ledger.finalize(held, toHash(1), true, NOW)
    expect(await wall.log.readAfter(0, 999)).toHaveLength(400)
    expect(await catchFailure(wall.ledger.release(held, false))).toBeDefined()
  })
}
