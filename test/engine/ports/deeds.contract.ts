import { describe, expect } from 'bun:test'
import { STRAY_NOTE } from '../../../server/domain/purchase/account.ts'
import type { BoundOrder, Payment } from '../../../server/domain/purchase/payment.ts'
import { reserveTarget, recordLatePayment, sellBlock, type EngineTest } from '../../support/engine.ts'
import {
  parseBlockOrThrow,
  toHash,
  HEAD,
  createTestListing,
  NOW,
  createTestPayment,
  createPixels,
  SILENT,
  TERMS,
  createWalletAddress,
} from '../../support/samples.ts'

// Goal: a deed contains everything that proves the purchase, and no money is left without an entry. Method: payments
// are brought to each possible outcome on a fresh engine; `testLast` gives a wall on which only one block is open.

const ORDER: BoundOrder = { text: 'wall.test\nbuy v1\nany text, as it was signed ✨', salt: toHash(0x5a17) }

const createBoundPayment = (payer: number, nonce: number): Payment =>
  createTestPayment(payer, nonce, { binding: ORDER })

/** The suite of deeds and debts. */
export function testDeeds(name: string, test: EngineTest, testLast: EngineTest): void {
  describe(`deeds on ${name}`, () => {
    test('each payment that bought blocks has a deed, which contains the bound order if the payment has one', async (wall) => {
      expect(await wall.ledgerReader.listSold(0, 9)).toEqual([])
      const held = await reserveTarget(
        wall,
        parseBlockOrThrow('3,4'),
        createBoundPayment(1, 1),
        createTestListing({ pixels: createPixels(7) }),
        NOW + 5,
      )
      expect(await wall.ledgerReader.listSold(0, 9)).toEqual([])
      await wall.ledger.finalize(held, toHash(1), false, NOW + 9)
      await sellBlock(wall, 'next', 2, 2, SILENT, NOW + 10)
      const [first, second, ...others] = await wall.ledgerReader.listSold(0, 9)
      expect(first).toEqual({
        payer: createWalletAddress(1),
        nonce: toHash(1),
        target: parseBlockOrThrow('3,4'),
        block: parseBlockOrThrow('3,4'),
        seq: 1,
        amount: TERMS.amount,
        payTo: TERMS.payTo,
        tx: toHash(1),
        claimedAt: NOW + 9,
        settled: false,
        isPainted: true,
        order: ORDER,
      })
      expect(second).toMatchObject({
        payer: createWalletAddress(2),
        target: 'next',
        seq: 2,
        isPainted: false,
        order: null,
      })
      expect(others).toEqual([])
    })

    test('a page of deeds begins after a given sale, is in the order of sales, and contains each area once', async (wall) => {
      await sellBlock(wall, '1,1', 1, 1)
      const area = await reserveTarget(wall, '80,45,2x2', createTestPayment(1, 2), SILENT)
      await wall.ledger.finalize(area, toHash(2), true, NOW)
      await sellBlock(wall, '2,2', 1, 3)
      const listSeqs = async (after: number, limit: number) =>
        (await wall.ledgerReader.listSold(after, limit)).map(({ seq }) => seq)
      expect(await listSeqs(0, 9)).toEqual([1, 2, 6])
      expect(await listSeqs(1, 1)).toEqual([2])
      expect(await listSeqs(2, 9)).toEqual([6])
      expect(await listSeqs(6, 9)).toEqual([])
      const [, deed] = await wall.ledgerReader.listSold(0, 2)
      expect(deed).toMatchObject({ target: '80,45,2x2', block: parseBlockOrThrow('80,45') })
    })

    test('the deed of a late payment has its bound order, and both the requested and the actual position', async (wall) => {
      const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createBoundPayment(1, 1))
      await wall.ledger.release(held, false)
      await sellBlock(wall, '3,4', 2, 2)
      await wall.ledger.fulfilLatePayment(held, toHash(1), NOW)
      const [, late] = await wall.ledgerReader.listSold(0, 9)
      expect(late).toMatchObject({ target: parseBlockOrThrow('3,4'), order: ORDER })
      expect(late?.block).not.toBe(parseBlockOrThrow('3,4'))
      const unclaimed = { payment: createBoundPayment(1, 3), target: 'next' as const, listing: SILENT, head: HEAD }
      await recordLatePayment(wall, unclaimed, toHash(3))
      expect((await wall.ledgerReader.listSold(2, 1))[0]).toMatchObject({ nonce: toHash(3), order: ORDER })
    })

    test('a released payment that is sent again keeps the order that it was first bound to', async (wall) => {
      const held = await reserveTarget(wall, 'next', createBoundPayment(1, 1))
      await wall.ledger.release(held, false)
      await wall.ledger.finalize(await reserveTarget(wall, 'next', createTestPayment(1, 1)), toHash(1), true, NOW)
      expect((await wall.ledgerReader.listSold(0, 9))[0]).toMatchObject({ order: ORDER })
    })

    test('a payment that was signed for another order is never stored', async (wall) => {
      const payment = createTestPayment(1, 1, { binding: 'mismatch' })
      expect(reserveTarget(wall, 'next', payment)).rejects.toThrow(RangeError)
      expect(await wall.ledger.find(payment)).toBeUndefined()
    })

    testLast(
      'credits are listed with the references of their refunds, followed by recorded money that has no purchase',
      async (wall) => {
        await sellBlock(wall, 'next', 2, 1)
        expect(await wall.ledgerReader.listOwed(0, 9)).toEqual([])
        const addCredit = (nonce: number) =>
          recordLatePayment(
            wall,
            { payment: createTestPayment(1, nonce), target: 'next', listing: SILENT, head: HEAD },
            toHash(nonce),
          )
        await addCredit(2)
        await addCredit(3)
        const createKey = (payer: number, nonce: number) => ({
          payer: createWalletAddress(payer),
          nonce: toHash(nonce),
        })
        await wall.payouts.recordReference(createKey(1, 3), toHash(0xbac), NOW)
        await wall.payouts.recordReference(createKey(8, 8), STRAY_NOTE, NOW)
        await wall.payouts.recordReference(createKey(9, 9), 'paid back by hand', NOW + 1)
        const owed = { amount: TERMS.amount, reference: null }
        const all = await wall.ledgerReader.listOwed(0, 9)
        expect(await wall.ledgerReader.listOwed(1, 2)).toEqual(all.slice(1, 3))
        expect(all).toEqual([
          { ...createKey(1, 2), ...owed, tx: toHash(2) },
          { ...createKey(1, 3), ...owed, tx: toHash(3), reference: toHash(0xbac) },
          { ...createKey(8, 8), tx: null, amount: null, reference: STRAY_NOTE },
          { ...createKey(9, 9), tx: null, amount: null, reference: 'paid back by hand' },
        ])
      },
    )
  })
}
