import { describe, expect } from 'bun:test'
import type { Address } from '../../../server/domain/purchase/payment.ts'
import {
  reserveTarget,
  sellBlock,
  findStoredPurchase,
  type Engine,
  type EngineTest,
  recordLatePayment,
} from '../../support/engine.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  toHash,
  createTestListing,
  NOW,
  createTestPayment,
  SILENT,
  createWalletAddress,
} from '../../support/samples.ts'

// Goal: every promise about painters, of the ports `Ledger`, `Blocks`, `Agents` and `LedgerReader` together. Method:
// purchases and wallets name painters, and blocks are read with their painters.

const block = parseBlockOrThrow('3,4')

const readPainter = async ({ blocks }: Engine, coord: string) =>
  (await blocks.findOwned(parseBlockOrThrow(coord)))?.painter

const createNaming = (painter: Address | null, ts = NOW) => ({ painter, ts })

/** The suite of painters. */
export function testPainters(name: string, test: EngineTest, testLast: EngineTest): void {
  describe(`painters on ${name}`, () => {
    testNamings(test, testLast)
    testBlockPainters(test)
    testRepaints(test)
  })
}

function testNamings(test: EngineTest, testLast: EngineTest): void {
  test('the painter that a purchase names is stored, and can paint only the blocks of that purchase', async (wall) => {
    const listing = createTestListing({ painter: createWalletAddress(9) })
    const held = await reserveTarget(wall, block, createTestPayment(1, 1), listing)
    expect(held.listing).toEqual(listing)
    expect(await findStoredPurchase(wall, createTestPayment(1, 1))).toEqual(held)
    const sold = await wall.ledger.finalize(held, toHash(1), true, NOW)
    expect(sold.listing).toEqual(listing)
    expect(await findStoredPurchase(wall, createTestPayment(1, 1))).toEqual(sold)
    await sellBlock(wall, '5,6', 1, 2)
    expect([await readPainter(wall, '3,4'), await readPainter(wall, '5,6')]).toEqual([createWalletAddress(9), null])
  })

  test('a payment that is released, held again or settled late keeps the painter that it named first', async (wall) => {
    const held = await reserveTarget(
      wall,
      block,
      createTestPayment(1, 1),
      createTestListing({ painter: createWalletAddress(9) }),
    )
    await wall.ledger.release(held, false)
    const again = await reserveTarget(
      wall,
      block,
      createTestPayment(1, 1),
      createTestListing({ painter: createWalletAddress(8) }),
    )
    expect(again.listing.painter).toBe(createWalletAddress(9))
    await wall.ledger.release(again, false)
    const late = await wall.ledger.fulfilLatePayment(again, toHash(1), NOW)
    expect(late.listing.painter).toBe(createWalletAddress(9))
    expect(await readPainter(wall, '3,4')).toBe(createWalletAddress(9))
  })

  test('a payment that settled before anything was held for it still sets the painter of its block', async (wall) => {
    const landed = {
      payment: createTestPayment(1, 1),
      target: block,
      listing: createTestListing({ painter: createWalletAddress(9) }),
      head: 1n,
    }
    const purchase = await recordLatePayment(wall, landed, toHash(1))
    expect(await findStoredPurchase(wall, createTestPayment(1, 1))).toEqual(purchase)
    expect(await readPainter(wall, '3,4')).toBe(createWalletAddress(9))
  })

  testLast('a credit keeps its listing, with the painter that it names', async (wall) => {
    await sellBlock(wall, 'next', 2, 2)
    const landed = {
      payment: createTestPayment(1, 1),
      target: 'next' as const,
      listing: createTestListing({ painter: createWalletAddress(9) }),
      head: 1n,
    }
    const credited = await recordLatePayment(wall, landed, toHash(1))
    expect(credited.state.kind).toBe('credited')
    expect(await findStoredPurchase(wall, createTestPayment(1, 1))).toEqual(credited)
  })
}

function testBlockPainters(test: EngineTest): void {
  test('a wallet can name a painter for all its blocks, including later purchases, but not for blocks of other wallets', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    await sellBlock(wall, '5,6', 2, 2)
    expect(await wall.agents.namePainter(createWalletAddress(1), createNaming(createWalletAddress(9)))).toBe('applied')
    await sellBlock(wall, '7,8', 1, 3)
    expect(await Promise.all(['3,4', '5,6', '7,8'].map((coord) => readPainter(wall, coord)))).toEqual([
      createWalletAddress(9),
      null,
      createWalletAddress(9),
    ])
    expect(await wall.log.readAfter(3, 9)).toEqual([])
  })

  test('a painter message replaces all painters that its wallet named earlier, even for held purchases, but none that the wallet named later', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1, createTestListing({ painter: createWalletAddress(8) }))
    const held = await reserveTarget(
      wall,
      parseBlockOrThrow('5,6'),
      createTestPayment(1, 2),
      createTestListing({ painter: createWalletAddress(8) }),
    )
    expect(await wall.agents.namePainter(createWalletAddress(1), createNaming(null))).toBe('applied')
    await wall.ledger.finalize(held, toHash(2), true, NOW)
    await sellBlock(wall, '7,8', 1, 3, createTestListing({ painter: createWalletAddress(7) }))
    const readPainters = () => Promise.all(['3,4', '5,6', '7,8'].map((coord) => readPainter(wall, coord)))
    expect(await readPainters()).toEqual([null, null, createWalletAddress(7)])
    expect(await wall.agents.namePainter(createWalletAddress(1), createNaming(createWalletAddress(9), NOW + 1))).toBe(
      'applied',
    )
    expect(await readPainters()).toEqual([createWalletAddress(9), createWalletAddress(9), createWalletAddress(9)])
    expect((await findStoredPurchase(wall, createTestPayment(1, 3))).listing.painter).toBe(createWalletAddress(7))
  })

  test('a painter message of one wallet does not change the painters of another wallet', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1, createTestListing({ painter: createWalletAddress(8) }))
    await sellBlock(wall, '5,6', 2, 2)
    await wall.agents.namePainter(createWalletAddress(2), createNaming(null))
    expect(await readPainter(wall, '3,4')).toBe(createWalletAddress(8))
  })

  test('a painter message changes nothing unless its time is later than that of the last applied message', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    const namePainter = (painter: Address | null, ts: number) =>
      wall.agents.namePainter(createWalletAddress(1), createNaming(painter, ts))
    expect(await namePainter(createWalletAddress(9), NOW)).toBe('applied')
    expect([
      await namePainter(createWalletAddress(9), NOW),
      await namePainter(null, NOW),
      await namePainter(createWalletAddress(8), NOW - 1),
    ]).toEqual(['superseded', 'superseded', 'superseded'])
    expect(await readPainter(wall, '3,4')).toBe(createWalletAddress(9))
    expect(await namePainter(null, NOW + 1)).toBe('applied')
    expect(await readPainter(wall, '3,4')).toBeNull()
  })

  test('of many parallel painter messages, the one with the latest time wins', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        wall.agents.namePainter(createWalletAddress(1), createNaming(createWalletAddress(20 + at), NOW + at)),
      ),
    )
    expect(await readPainter(wall, '3,4')).toBe(createWalletAddress(27))
  })

  test('a wallet that has bought nothing cannot name a painter', async (wall) => {
    await reserveTarget(wall, block, createTestPayment(1, 1))
    expect(await wall.agents.namePainter(createWalletAddress(1), createNaming(createWalletAddress(9)))).toBe(
      'unknown-wallet',
    )
  })

  test('the account of a wallet shows the painter that it named, and the painter of each block', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1, createTestListing({ painter: createWalletAddress(8) }))
    await sellBlock(wall, '5,6', 1, 2)
    const readAccount = async () => {
      const { painter, sales } = await wall.ledgerReader.readAccount(createWalletAddress(1))
      return { painter, sales: sales.map((sale) => sale.painter) }
    }
    expect(await readAccount()).toEqual({ painter: null, sales: [createWalletAddress(8), null] })
    await wall.agents.namePainter(createWalletAddress(1), createNaming(createWalletAddress(9)))
    await sellBlock(wall, '7,8', 1, 3, createTestListing({ painter: createWalletAddress(7) }))
    expect(await readAccount()).toEqual({
      painter: createWalletAddress(9),
      sales: [createWalletAddress(9), createWalletAddress(9), createWalletAddress(7)],
    })
  })
}

function testRepaints(test: EngineTest): void {
  test('after a message that removes a painter, no repaint by this painter is stored', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1, { ...SILENT, painter: createWalletAddress(9) })
    const edits = Array.from({ length: 20 }, (_, digest) =>
      createTestEdit(digest + 1, { message: 'p', painter: createWalletAddress(9) }),
    )
    const ended = wall.agents
      .namePainter(createWalletAddress(1), createNaming(null))
      .then(async () => await wall.log.readAfter(0, 99))
    const results = await Promise.all(edits.map((edit) => wall.blocks.edit(block, edit, NOW)))
    const applied = results.filter((result) => result === 'applied').length
    expect(await ended).toHaveLength(1 + applied)
    expect(await wall.log.readAfter(0, 99)).toHaveLength(1 + applied)
  })
}
