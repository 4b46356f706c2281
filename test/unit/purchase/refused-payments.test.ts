import { describe, expect, test } from 'bun:test'
import { createPorts } from '../../../db/sqlite/open.ts'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import type { Payment } from '../../../server/domain/purchase/payment.ts'
import { trustPixels } from '../../../shared/pixels.ts'
import { connectToBlankWall } from '../../support/blank-wall.ts'
import { createFakeChain } from '../../support/fakes/chain.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeFacilitator } from '../../support/fakes/facilitator.ts'
import { readNonceOrCode, createSellerWith } from '../../support/fakes/seller.ts'
import {
  parseBlockOrThrow,
  toHash,
  NOW,
  createTestPayment,
  createPixels,
  SILENT,
  TERMS,
} from '../../support/samples.ts'

// Goal: a payment that a facilitator has, but for which nothing is held, gets a correct outcome.

const BLOCK = parseBlockOrThrow('79,44')

function openSeller() {
  const connection = connectToBlankWall()
  const { ledger } = createPorts(connection)
  const chain = createFakeChain()
  const facilitator = createFakeFacilitator(chain)
  const clock = { ...createFakeClock(NOW), wait: async () => {} }
  const createSeller = (more = {}) => createSellerWith({ ledger, facilitator, chain, clock, ...more })
  const sold = createSeller()
  const page = connection.prepare<{ bytes: number }>(
    'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
  )
  return {
    ledger,
    chain,
    facilitator,
    clock,
    open: createSeller,
    sold,
    bytes: () => page.all({})[0]?.bytes ?? 0,
  }
}

describe('a payment that lost the race for its block', () => {
  async function losePayment() {
    const seller = openSeller()
    const [one, other] = [createTestPayment(1, 1), createTestPayment(2, 2)]
    const [won, lost] = await Promise.all([one, other].map((payment) => seller.sold.buy(BLOCK, payment, SILENT)))
    if (won === undefined || lost === undefined) throw new Error('two purchases were requested')
    expect(readNonceOrCode(won)).toBe(toHash(1))
    return { ...seller, lost, payment: other }
  }

  test('a payment that lost its block is not reported as uncharged, because a facilitator received it and it may settle until it expires', async () => {
    const { lost, payment } = await losePayment()
    const until = new Date(Number(payment.validBefore) * 1000).toISOString()
    expect(lost).toMatchObject({ code: 'purchase_pending', details: { charged: 'unknown' } })
    expect(lost).toMatchObject({ message: expect.stringContaining(`may move until ${until}`) })
  })

  test('a payment that lost its block gets the nearest open one if a facilitator broadcasts it anyway', async () => {
    const { ledger, chain, sold, payment } = await losePayment()
    chain.transferPayment(payment)
    await sold.reconcile(payment)
    expect(await ledger.find(payment)).toMatchObject({ state: { kind: 'sold' } })
    const again = await sold.buy(BLOCK, payment, SILENT)
    expect(again).toMatchObject({ code: 'payment_used', details: { charged: 'yes' } })
  })

  test('a payment that lost its block is reported as uncharged once it can no longer settle', async () => {
    const { chain, sold, payment } = await losePayment()
    chain.expireAuthorization(payment)
    await sold.reconcile(payment)
    const again = await sold.buy(BLOCK, payment, SILENT)
    expect(again).toMatchObject({ code: 'payment_required', details: { charged: 'no' } })
  })
})

describe('an order that a facilitator refuses', () => {
  const AREA = 'next,20x20'
  const createAreaPayment = (nonce: number): Payment => {
    const amount = 400n * TERMS.amount
    return createTestPayment(nonce, nonce, { amount, accepted: { ...TERMS, amount, scheme: 'exact' } })
  }
  const picture = trustPixels(new Uint8Array(40_000).fill(7), 400)

  test('a rejected order is stored in less than a kilobyte, whatever the size of its picture', async () => {
    const { facilitator, sold, ledger, bytes } = openSeller()
    facilitator.verification = { kind: 'invalid', reason: 'invalid_exact_evm_insufficient_balance' }
    const before = bytes()
    for (let nonce = 1; nonce <= 100; nonce += 1)
      await sold.buy(AREA, createAreaPayment(nonce), { ...SILENT, pixels: picture })
    expect(await ledger.find(createAreaPayment(100))).toMatchObject({
      state: { kind: 'released' },
      listing: { pixels: null },
    })
    expect((bytes() - before) / 100).toBeLessThan(1000)
  })

  test('a rejected order that is sent again gets its picture only if the order is unchanged', async () => {
    for (const [message, isPainted] of [
      ['hello', true],
      ['another', false],
    ] as const) {
      const { facilitator, sold, ledger } = openSeller()
      facilitator.verification = { kind: 'invalid', reason: 'invalid_exact_evm_insufficient_balance' }
      await sold.buy(BLOCK, createTestPayment(1, 1), { ...SILENT, message: 'hello', pixels: createPixels(7) })
      facilitator.verification = { kind: 'valid' }
      expect(
        readNonceOrCode(
          await sold.buy(BLOCK, createTestPayment(1, 1), { ...SILENT, message, pixels: createPixels(7) }),
        ),
      ).toBe(toHash(1))
      const pixels = isPainted ? createPixels(7) : null
      expect((await ledger.find(createTestPayment(1, 1)))?.listing).toEqual({ ...SILENT, message: 'hello', pixels })
    }
  })
})

describe('a payment without a record', () => {
  /**
   * The response of a process that started `startedAgoMs` ago to a payment for a sold block, signed `signedAgoMs` ago.
   */
  async function buySoldBlock(startedAgoMs: number, signedAgoMs: number) {
    const { sold, clock, open } = openSeller()
    await sold.buy(BLOCK, createTestPayment(1, 1), SILENT)
    clock.advance(3_600_000)
    const next = open()
    clock.advance(startedAgoMs)
    const validBefore = BigInt((clock.now() - signedAgoMs) / 1000 + 300)
    return await next.buy(BLOCK, createTestPayment(2, 2, { validBefore }), SILENT)
  }

  test('an unknown payment is not reported as uncharged if a process that died may have sent it to a facilitator', async () => {
    const unknown = { code: 'block_taken', details: { charged: 'unknown' } }
    expect(await buySoldBlock(0, 0)).toMatchObject(unknown)
    expect(await buySoldBlock(120_000, 130_000)).toMatchObject(unknown)
  })

  test('an unknown payment is reported as uncharged if it was signed after the process started, or can no longer settle', async () => {
    const uncharged = { code: 'block_taken', details: { charged: 'no' } }
    expect(await buySoldBlock(120_000, 0)).toMatchObject(uncharged)
    expect(await buySoldBlock(700_000, 690_000)).toMatchObject(uncharged)
  })

  test('an unknown payment is not sent to a facilitator while other processes cannot learn of it', async () => {
    const { open, ledger, facilitator } = openSeller()
    const failStore = () => Promise.reject(new StoreUnavailable('down'))
    const apart = open({ leases: { take: failStore, give: failStore, isTaken: failStore } })
    const busy = { code: 'server_busy', details: { charged: 'unknown' } }
    expect(await apart.buy(BLOCK, createTestPayment(1, 1), SILENT)).toMatchObject(busy)
    expect([await ledger.find(createTestPayment(1, 1)), facilitator.verified]).toEqual([undefined, []])
  })
})
