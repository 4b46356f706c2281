/** The promises of the books, on any engine. */

import { expect, test } from 'bun:test'
import type { Engine } from '../../../db/engine.ts'
import { StaleWriteError } from '../../../server/domain/failure.ts'
import { STRAY_BY_HAND, STRAY_NOTE } from '../../../server/domain/purchase/account.ts'
import type { Audit } from '../../../server/operator-ports.ts'
import { reserveTarget, sellBlock } from '../../support/engine.ts'
import {
  parseBlockOrThrow,
  EMPTY_BOOKS,
  toHash,
  HEAD,
  NOW,
  createTestPayment,
  SILENT,
  TERMS,
  createWalletAddress,
} from '../../support/samples.ts'

/** A wall that sells, and its books read separately. */
export type Audited = {
  readonly wall: Pick<Engine, 'ledger' | 'payouts'>
  readonly books: readonly Audit[] // read in different ways, with equal results
  close(): Promise<void>
}

const createKey = (payer: number, nonce: number) => ({ payer: createWalletAddress(payer), nonce: toHash(nonce) })

/** The suite of the books. `open` opens an empty wall, `openLast` one with a single block left. */
export function testAudit(name: string, open: () => Promise<Audited>, openLast: () => Promise<Audited>): void {
  test(`while a wall on ${name} runs, its books contain every payment with its outcome`, async () => {
    const { wall, books, close } = await open()
    for (const audit of books) expect(await audit.readStatement()).toEqual(EMPTY_BOOKS)

    await sellBlock(wall, '3,4', 1, 1)
    const doubted = await wall.ledger.markUncertain(
      await reserveTarget(wall, 'next', createTestPayment(2, 2), SILENT, NOW + 5),
    )
    const watched = await reserveTarget(wall, parseBlockOrThrow('5,6'), createTestPayment(3, 3))
    await wall.ledger.release(watched, false)
    await wall.ledger.release(await reserveTarget(wall, parseBlockOrThrow('7,8'), createTestPayment(4, 4)), true)
    expect(await wall.payouts.recordReference(createKey(9, 9), 'refund 1', NOW)).toBe(true)
    expect(await wall.payouts.recordReference(createKey(9, 9), 'refund 2', NOW)).toBe(false)
    for (const audit of books)
      expect(await audit.readStatement()).toEqual({
        claimed: 1,
        sales: [
          {
            ...createKey(1, 1),
            block: parseBlockOrThrow('3,4'),
            blocks: 1,
            amount: 1_000_000n,
            tx: toHash(1),
            head: HEAD,
          },
        ],
        credits: [],
        open: [
          { purchase: doubted, since: NOW + 5 },
          { purchase: { ...watched, state: { kind: 'released', isFinal: false } }, since: NOW },
        ],
        final: [createKey(4, 4)],
        payouts: [{ ...createKey(9, 9), reference: 'refund 1', at: NOW }],
        payees: [TERMS.payTo],
        from: HEAD,
      })
    await close()
  })

  test(`stray money on ${name} is booked once, and a later decision or payout by the operator replaces that entry`, async () => {
    const { wall, books, close } = await open()
    const [key, note] = [createKey(9, 9), wall.payouts.recordReference]
    expect([await wall.payouts.findReference(key), await note(key, STRAY_NOTE, NOW)]).toEqual([undefined, true])
    expect([await wall.payouts.findReference(key), await note(key, STRAY_NOTE, NOW + 1)]).toEqual([STRAY_NOTE, false])
    expect([await note(key, STRAY_BY_HAND, NOW + 1), await note(key, STRAY_NOTE, NOW + 1)]).toEqual([true, false])
    expect([await note(key, 'refund', NOW + 2), await note(key, STRAY_NOTE, NOW + 3)]).toEqual([true, false])
    expect([await note(key, STRAY_BY_HAND, NOW + 4), await wall.payouts.findReference(key)]).toEqual([false, 'refund'])
    for (const audit of books)
      expect((await audit.readStatement()).payouts).toEqual([{ ...key, reference: 'refund', at: NOW + 2 }])
    await close()
  })

  test(`a credit on ${name} is owed until it is paid out, even if it was booked as stray before`, async () => {
    const { wall, books, close } = await openLast()
    await wall.payouts.recordReference(createKey(1, 1), STRAY_NOTE, NOW)
    const given = await reserveTarget(wall, 'next', createTestPayment(1, 1))
    await wall.ledger.release(given, false)
    await sellBlock(wall, 'next', 2, 2)
    await wall.ledger.fulfilLatePayment(given, toHash(1), NOW)
    const credit = { ...createKey(1, 1), amount: 1_000_000n, tx: toHash(1), head: HEAD, paidOut: null }
    for (const audit of books) expect((await audit.readStatement()).credits).toEqual([credit])
    await wall.payouts.recordReference(createKey(1, 1), 'refund 1', NOW)
    for (const audit of books)
      expect((await audit.readStatement()).credits).toEqual([{ ...credit, paidOut: 'refund 1' }])
    await close()
  })

  test(`money without a purchase on ${name} is recorded as one credit, and its payment can no longer buy anything`, async () => {
    const { wall, books, close } = await open()
    const payment = createTestPayment(1, 1)
    const lost = { payment, target: 'next', listing: SILENT, head: HEAD } as const
    await wall.payouts.recordCredit(lost, toHash(7), NOW)
    expect(wall.payouts.recordCredit(lost, toHash(8), NOW)).rejects.toThrow(StaleWriteError)
    const credit = { ...createKey(1, 1), amount: payment.amount, tx: toHash(7), head: HEAD, paidOut: null }
    for (const audit of books)
      expect(await audit.readStatement()).toMatchObject({ claimed: 0, credits: [credit], open: [] })
    expect(await wall.ledger.find(payment)).toMatchObject({ state: { kind: 'credited', tx: toHash(7) } })
    expect(wall.ledger.claim('next', payment, SILENT, HEAD, NOW, [])).rejects.toThrow(StaleWriteError)
    await close()
  })
}
