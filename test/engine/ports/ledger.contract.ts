import { describe, expect } from 'bun:test'
import { StaleWriteError } from '../../../server/domain/failure.ts'
import {
  FIRST_CONFIRMATION_MS,
  LAST_CONFIRMATION_MS,
  type Payment,
  type Target,
} from '../../../server/domain/purchase/payment.ts'
import { CLAIM_ORDER } from '../../../shared/wall.ts'
import { catchFailure, reserveTarget, sellBlock, findStoredPurchase, type EngineTest } from '../../support/engine.ts'
import {
  parseBlockOrThrow,
  toHash,
  HEAD,
  createTestListing,
  NOW,
  createTestPayment,
  SILENT,
} from '../../support/samples.ts'

// Goal: every promise of the `Ledger` port, as its callers rely on it. Method: each test drives a fresh engine through
// the port alone; `testLast` gives a wall on which only the last block of the order of sale is open.

const MINUTE_MS = 60_000

/** The suite of the `Ledger` port. */
export function testLedger(name: string, test: EngineTest, testLast: EngineTest): void {
  describe(`ledger on ${name}`, () => {
    testHolding(test)
    testOvertaking(test)
    testSelling(test)
    testReleasing(test)
    testLatePayments(test, testLast)
    testPriors(test)
    testLimits(test, testLast)
  })
}

function testHolding(test: EngineTest): void {
  test('a claim holds the block and stores everything about the payment', async (wall) => {
    const payment = createTestPayment(1, 1, { validAfter: 5n })
    const purchase = await reserveTarget(wall, parseBlockOrThrow('3,4'), payment)
    expect(purchase).toEqual({
      payment,
      target: parseBlockOrThrow('3,4'),
      block: parseBlockOrThrow('3,4'),
      listing: createTestListing(),
      head: HEAD,
      state: { kind: 'reserved', uncertain: false, attempt: 1 },
    })
    expect(await wall.ledger.find(payment)).toEqual(purchase)
    expect(await wall.ledger.checkSpace(parseBlockOrThrow('3,4'))).toBe('reserved')
    expect(await wall.blocks.isReserved(parseBlockOrThrow('3,4'))).toBe(true)
    expect(await wall.blocks.findOwned(parseBlockOrThrow('3,4'))).toBeUndefined()
  })

  test('block 0 and a listing without texts are stored unchanged', async (wall) => {
    const purchase = await reserveTarget(wall, parseBlockOrThrow('0,0'), createTestPayment(1, 1), SILENT)
    expect(purchase).toMatchObject({ target: 0, block: 0, listing: SILENT })
  })

  test('a look-up with another payer or another nonce does not find a stored payment', async (wall) => {
    await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    expect(await wall.ledger.find(createTestPayment(2, 1))).toBeUndefined()
    expect(await wall.ledger.find(createTestPayment(1, 2))).toBeUndefined()
  })

  test('a block that is held or sold is unavailable to other payers, and their payments leave no trace', async (wall) => {
    const { ledger } = wall
    const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    const claimAgain = () =>
      ledger.claim(parseBlockOrThrow('3,4'), createTestPayment(2, 2), createTestListing(), HEAD, NOW, [])
    expect(await claimAgain()).toEqual({ kind: 'lost', space: 'reserved' })
    await ledger.finalize(held, toHash(1), true, NOW)
    expect(await claimAgain()).toEqual({ kind: 'lost', space: 'claimed' })
    expect(await ledger.find(createTestPayment(2, 2))).toBeUndefined()
  })

  test('of 64 parallel claims of one block, exactly one wins', async ({ ledger }) => {
    const payers = Array.from({ length: 64 }, (_, payer) => payer + 1)
    const claimings = await Promise.all(
      payers.map((payer) =>
        ledger.claim(parseBlockOrThrow('3,4'), createTestPayment(payer, 1), createTestListing(), HEAD, NOW, []),
      ),
    )
    expect(claimings.filter(({ kind }) => kind === 'claimed')).toHaveLength(1)
    expect(claimings.filter(({ kind }) => kind === 'lost')).toHaveLength(63)
  })

  test('the target next selects the open block nearest the centre, and skips held and sold blocks', async (wall) => {
    const held = await reserveTarget(wall, 'next', createTestPayment(1, 1))
    const sold = await sellBlock(wall, 'next', 1, 2)
    const heldToo = await reserveTarget(wall, 'next', createTestPayment(1, 3))
    expect([held, sold, heldToo].map(({ block }) => block)).toEqual(CLAIM_ORDER.slice(0, 3))
    expect([held, sold, heldToo].map(({ target }) => target)).toEqual(['next', 'next', 'next'])
  })

  test('a payment that is held or sold cannot be claimed again', async (wall) => {
    const { ledger } = wall
    const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    const repeatClaim = () => ledger.claim('next', createTestPayment(1, 1), createTestListing(), HEAD, NOW, [])
    expect(await catchFailure(repeatClaim())).toBeInstanceOf(StaleWriteError)
    await ledger.finalize(held, toHash(1), true, NOW)
    expect(await catchFailure(repeatClaim())).toBeInstanceOf(StaleWriteError)
    expect(await ledger.checkSpace(CLAIM_ORDER[0] ?? 'next')).toBe('open')
  })

  test('a payment that cannot be stored exactly is rejected, and nothing is held', async ({ ledger }) => {
    const endless = createTestPayment(1, 1, { validBefore: 2n ** 255n })
    expect(
      await catchFailure(ledger.claim(parseBlockOrThrow('3,4'), endless, createTestListing(), HEAD, NOW, [])),
    ).toBeInstanceOf(RangeError)
    expect(await ledger.checkSpace(parseBlockOrThrow('3,4'))).toBe('open')
  })
}

function testSelling(test: EngineTest): void {
  test('the availability of a block is current, however often it was read before', async (wall) => {
    const { ledger } = wall
    const block = parseBlockOrThrow('3,4')
    const readSpaces = async () => [await ledger.checkSpace(block), await ledger.checkSpace(block)]
    const [elsewhere, other] = [
      await reserveTarget(wall, parseBlockOrThrow('5,6'), createTestPayment(2, 2)),
      parseBlockOrThrow('7,8'),
    ]
    expect(await readSpaces()).toEqual(['open', 'open'])
    const first = await reserveTarget(wall, block, createTestPayment(1, 1))
    expect(await readSpaces()).toEqual(['reserved', 'reserved'])
    await ledger.release(first, false)
    expect(await readSpaces()).toEqual(['open', 'open'])
    expect((await ledger.fulfilLatePayment(first, toHash(1), NOW)).block).toBe(block)
    expect(await readSpaces()).toEqual(['claimed', 'claimed'])
    expect([await ledger.checkSpace(elsewhere.block), await ledger.checkSpace(other)]).toEqual(['reserved', 'open'])
    expect(await catchFailure(ledger.claim(other, first.payment, createTestListing(), HEAD, NOW, []))).toBeInstanceOf(
      StaleWriteError,
    )
    expect(await ledger.checkSpace(other)).toBe('open')
  })

  test('a sale makes the payer the owner of the block in every read', async (wall) => {
    const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    const sold = await wall.ledger.finalize(held, toHash(9), false, NOW + 5)
    const state = { kind: 'sold', tx: toHash(9), claimedAt: NOW + 5, name: 'Ada', framework: 'loom' } as const
    expect(sold).toEqual({ ...held, state: { ...state, settled: false, unanswered: true } })
    expect(await wall.ledger.find(createTestPayment(1, 1))).toEqual(sold)
    expect(await wall.ledger.checkSpace(parseBlockOrThrow('3,4'))).toBe('claimed')
    expect(await wall.blocks.isReserved(parseBlockOrThrow('3,4'))).toBe(false)
    expect(await wall.blocks.findOwned(parseBlockOrThrow('3,4'))).toMatchObject({
      wallet: held.payment.payer,
      tx: toHash(9),
    })
  })

  test('a sale that is finalized again is not stored again, and is returned unchanged', async (wall) => {
    const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    const sold = await wall.ledger.finalize(held, toHash(1), true, NOW)
    expect(await wall.ledger.finalize(held, toHash(2), true, NOW + 9)).toEqual(sold)
    expect(await wall.ledger.finalize(sold, toHash(2), false, NOW + 9)).toEqual(sold)
    expect(await wall.log.readAfter(0, 9)).toHaveLength(1)
  })

  test('a sale that relies on a facilitator’s response is confirmed with the transaction that the chain shows', async (wall) => {
    const { ledger } = wall
    const unseen = [1, 2].map(async (nonce) => {
      const held = await reserveTarget(wall, 'next', createTestPayment(1, nonce))
      return await ledger.finalize(held, toHash(90), false, NOW)
    })
    const [first, second] = await Promise.all(unseen)
    if (first === undefined || second === undefined) throw new Error('two sales were made')
    await ledger.confirm(first, toHash(1))
    expect((await findStoredPurchase(wall, first.payment)).state).toEqual({
      ...first.state,
      tx: toHash(1),
      settled: true,
    })
    const confirmed = await ledger.finalize(second, toHash(2), true, NOW)
    expect(confirmed.state).toEqual({ ...second.state, tx: toHash(2), settled: true })
  })

  test('only a sale can be confirmed', async (wall) => {
    const held = await reserveTarget(wall, 'next', createTestPayment(1, 1))
    expect(await catchFailure(wall.ledger.confirm(held, toHash(1)))).toBeInstanceOf(Error)
    expect(await findStoredPurchase(wall, held.payment)).toEqual(held)
  })

  test('a sale sets the name and framework given in its listing, and leaves an omitted field unchanged', async (wall) => {
    const sellWithProfile = async (nonce: number, name: string | null, framework: string | null) => {
      const { state } = await sellBlock(wall, 'next', 1, nonce, createTestListing({ name, framework }))
      return [state.name, state.framework]
    }
    expect(await sellWithProfile(1, null, null)).toEqual([null, null])
    expect(await sellWithProfile(2, 'Ada', null)).toEqual(['Ada', null])
    expect(await sellWithProfile(3, null, 'loom')).toEqual(['Ada', 'loom'])
    expect(await sellWithProfile(4, 'Bob', null)).toEqual(['Bob', 'loom'])
    expect((await findStoredPurchase(wall, createTestPayment(1, 2))).state).toMatchObject({
      name: 'Ada',
      framework: null,
    })
  })

  test('the time of a sale never decreases, even when the clock does', async (wall) => {
    await sellBlock(wall, 'next', 1, 1, SILENT, NOW)
    expect((await sellBlock(wall, 'next', 2, 2, SILENT, NOW - 5000)).state.claimedAt).toBe(NOW)
    expect((await sellBlock(wall, 'next', 3, 3, SILENT, NOW + 1)).state.claimedAt).toBe(NOW + 1)
  })

  test('a sold purchase counts as unanswered until it is marked as answered', async (wall) => {
    const { ledger } = wall
    const waiting = await ledger.markUncertain(await reserveTarget(wall, 'next', createTestPayment(1, 1)))
    expect(waiting.state).toEqual({ kind: 'reserved', uncertain: true, attempt: 1 })
    expect(await ledger.markUncertain(waiting)).toEqual(waiting)
    const sold = await ledger.finalize(waiting, toHash(1), true, NOW)
    expect(sold.state.unanswered).toBe(true)
    for (let twice = 0; twice < 2; twice += 1) await ledger.markAnswered(sold.payment)
    expect((await findStoredPurchase(wall, sold.payment)).state).toEqual({ ...sold.state, unanswered: false })
  })

  test('marking a purchase as answered leaves the other purchases of its payer unanswered', async (wall) => {
    const held = await reserveTarget(wall, 'next', createTestPayment(1, 1))
    const sold = await wall.ledger.finalize(held, toHash(1), true, NOW)
    const other = await sellBlock(wall, '5,6', 1, 2)
    await wall.ledger.markAnswered(other.payment)
    expect((await findStoredPurchase(wall, sold.payment)).state).toEqual({ ...sold.state, unanswered: true })
  })

  test('marking a purchase as answered has no effect unless the purchase is sold', async (wall) => {
    const held = await reserveTarget(wall, 'next', createTestPayment(1, 1))
    for (const payment of [held.payment, createTestPayment(1, 2)]) await wall.ledger.markAnswered(payment)
    expect(await findStoredPurchase(wall, held.payment)).toEqual(held)
  })
}

function testOvertaking(test: EngineTest): void {
  test('once the payer of a held purchase is asked to wait, a release based on the earlier state is rejected as stale', async (wall) => {
    const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    const doubted = await wall.ledger.markUncertain(held)
    expect(await catchFailure(wall.ledger.release(held, false))).toBeInstanceOf(StaleWriteError)
    expect(await findStoredPurchase(wall, held.payment)).toEqual(doubted)
    await wall.ledger.release(doubted, false)
    expect(await wall.ledger.checkSpace(parseBlockOrThrow('3,4'))).toBe('open')
  })

  test('the payer of a purchase that is sold or released cannot be asked to wait', async (wall) => {
    const sold = await sellBlock(wall, '3,4', 1, 1)
    expect(await catchFailure(wall.ledger.markUncertain(sold))).toBeInstanceOf(StaleWriteError)
    const held = await reserveTarget(wall, parseBlockOrThrow('5,6'), createTestPayment(1, 2))
    await wall.ledger.release(held, false)
    expect(await catchFailure(wall.ledger.markUncertain(held))).toBeInstanceOf(StaleWriteError)
    expect(await findStoredPurchase(wall, sold.payment)).toEqual(sold)
  })

  test('a release that was decided for an earlier attempt at a payment is rejected, and the current attempt stays held', async (wall) => {
    const { ledger } = wall
    const first = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    await ledger.release(first, false)
    const second = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    expect(second.state).toEqual({ kind: 'reserved', uncertain: false, attempt: 2 })
    const released = { ...first, state: { kind: 'released', isFinal: false } } as const
    for (const before of [first, released])
      for (const isFinal of [false, true])
        expect(await catchFailure(ledger.release(before, isFinal))).toBeInstanceOf(StaleWriteError)
    expect(await findStoredPurchase(wall, first.payment)).toEqual(second)
    await ledger.release(second, false)
  })

  test('the holders of a target are the payments that hold it, and the holders of next are all payments that hold a block', async (wall) => {
    const first = await reserveTarget(wall, 'next', createTestPayment(1, 1))
    const second = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(2, 2))
    await sellBlock(wall, 'next', 1, 3)
    const toKey = ({ payment: { payer, nonce } }: typeof first) => ({ payer, nonce })
    expect(await wall.ledger.listHolders(parseBlockOrThrow('3,4'))).toEqual([toKey(second)])
    expect(await wall.ledger.listHolders(parseBlockOrThrow('0,0'))).toEqual([])
    expect(new Set(await wall.ledger.listHolders('next'))).toEqual(new Set([toKey(first), toKey(second)]))
  })
}

function testReleasing(test: EngineTest): void {
  test('a released block is open again, and its payment stays stored', async (wall) => {
    const held = await wall.ledger.markUncertain(
      await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1)),
    )
    await wall.ledger.release(held, false)
    expect(await wall.ledger.checkSpace(parseBlockOrThrow('3,4'))).toBe('open')
    expect(await findStoredPurchase(wall, held.payment)).toEqual({
      ...held,
      state: { kind: 'released', isFinal: false },
    })
  })

  test('a payment that can never settle is released permanently', async (wall) => {
    const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    for (const [isFinal, expected] of [
      [false, false],
      [true, true],
      [false, true],
    ] as const) {
      await wall.ledger.release(held, isFinal)
      expect((await findStoredPurchase(wall, held.payment)).state).toEqual({ kind: 'released', isFinal: expected })
    }
  })

  test('a released payment is held again with its first target and listing, even if it is resent with another target and listing', async (wall) => {
    const held = await reserveTarget(wall, 'next', createTestPayment(1, 1), createTestListing({ message: 'first' }))
    await wall.ledger.release(held, true)
    await sellBlock(wall, 'next', 2, 2)
    const again = await wall.ledger.claim(parseBlockOrThrow('0,0'), held.payment, SILENT, HEAD + 50n, NOW, [])
    expect(again).toEqual({
      kind: 'claimed',
      purchase: {
        ...held,
        block: CLAIM_ORDER[1] ?? held.block,
        state: { kind: 'reserved', uncertain: false, attempt: 2 },
      },
    })
  })

  test('if two authorizations have the same nonce, the one that expires later is kept, so that no late settlement is missed', async (wall) => {
    const { ledger } = wall
    const first = createTestPayment(1, 1)
    const later = { ...first, validBefore: first.validBefore + 30n, signature: '0xbb' } as const
    const sooner = { ...first, validBefore: first.validBefore - 30n, signature: '0xcc' } as const
    for (const payment of [first, later, sooner]) {
      const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), payment)
      expect(held.payment).toEqual(payment === first ? first : later)
      await ledger.release(held, false)
    }
  })

  test('a sold purchase cannot be released, and a released purchase cannot be finalized', async (wall) => {
    const sold = await sellBlock(wall, '3,4', 1, 1)
    expect(await catchFailure(wall.ledger.release(sold, true))).toBeInstanceOf(StaleWriteError)
    expect(await findStoredPurchase(wall, sold.payment)).toEqual(sold)
    const held = await reserveTarget(wall, parseBlockOrThrow('5,6'), createTestPayment(2, 2))
    await wall.ledger.release(held, false)
    expect(await catchFailure(wall.ledger.finalize(held, toHash(2), true, NOW))).toBeInstanceOf(StaleWriteError)
    expect(await wall.ledger.checkSpace(parseBlockOrThrow('5,6'))).toBe('open')
  })
}

function testLatePayments(test: EngineTest, testLast: EngineTest): void {
  test('a payment that settles after its release gets its block, and its payer is owed the receipt', async (wall) => {
    const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    await wall.ledger.release(held, false)
    const owed = await wall.ledger.fulfilLatePayment(held, toHash(1), NOW + 1)
    const state = { kind: 'sold', tx: toHash(1), claimedAt: NOW + 1, name: 'Ada', framework: 'loom' } as const
    expect(owed).toEqual({ ...held, state: { ...state, settled: true, unanswered: true } })
    expect(await wall.blocks.findOwned(parseBlockOrThrow('3,4'))).toMatchObject({
      wallet: held.payment.payer,
      settled: true,
    })
    expect(await wall.ledger.fulfilLatePayment(held, toHash(2), NOW + 2)).toEqual(owed)
  })

  test('a payment that settles when its block is taken gets the next open block', async (wall) => {
    const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    await wall.ledger.release(held, true)
    await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(2, 2))
    const owed = await wall.ledger.fulfilLatePayment(held, toHash(1), NOW)
    expect(owed).toMatchObject({ target: parseBlockOrThrow('3,4'), block: CLAIM_ORDER[0], state: { kind: 'sold' } })
  })

  testLast('a payment that settles when no block is left becomes a credit, and stays one', async (wall) => {
    const held = await reserveTarget(wall, 'next', createTestPayment(1, 1))
    await wall.ledger.release(held, true)
    await sellBlock(wall, 'next', 2, 2)
    const credit = await wall.ledger.fulfilLatePayment(held, toHash(1), NOW)
    expect(credit).toEqual({ ...held, state: { kind: 'credited', tx: toHash(1) } })
    expect(await wall.ledger.fulfilLatePayment(held, toHash(2), NOW)).toEqual(credit)
    expect(
      await catchFailure(wall.ledger.claim('next', held.payment, createTestListing(), HEAD, NOW, [])),
    ).toBeInstanceOf(StaleWriteError)
  })

  test('a sale that is confirmed late is checked once more, like a sale that was confirmed immediately', async (wall) => {
    const { ledger } = wall
    const sold = await ledger.finalize(
      await reserveTarget(wall, 'next', createTestPayment(1, 1)),
      toHash(1),
      false,
      NOW,
    )
    const { payer, nonce } = sold.payment
    await ledger.confirm(sold, toHash(1))
    expect(await ledger.listUnfinished(NOW + FIRST_CONFIRMATION_MS)).toContainEqual({ payer, nonce })
    await ledger.confirm(sold, toHash(1))
    expect(await ledger.listUnfinished(NOW + FIRST_CONFIRMATION_MS)).not.toContainEqual({ payer, nonce })
  })

  testLast(
    'a credit is checked after its authorization expires: it is written off if its payment never arrived, and otherwise is not checked again',
    async (wall) => {
      const { ledger } = wall
      const held = await reserveTarget(wall, 'next', createTestPayment(1, 1))
      await ledger.release(held, true)
      await sellBlock(wall, 'next', 2, 2)
      const credit = await ledger.fulfilLatePayment(held, toHash(1), NOW)
      const { payer, nonce } = credit.payment
      const over = (Number(credit.payment.validBefore) + 1) * 1000 + LAST_CONFIRMATION_MS
      expect(await ledger.listUnfinished(NOW + FIRST_CONFIRMATION_MS)).not.toContainEqual({ payer, nonce })
      expect(await ledger.listUnfinished(over)).toContainEqual({ payer, nonce })
      expect(await wall.ledgerReader.countPending()).toMatchObject({ held: 0, watched: 0 })

      await ledger.writeOff(credit)
      expect(await findStoredPurchase(wall, credit.payment)).toEqual({
        ...credit,
        state: { kind: 'released', isFinal: true },
      })
      expect(await ledger.fulfilLatePayment(credit, toHash(2), NOW)).toMatchObject({ state: { kind: 'credited' } })
      await ledger.markFinal(credit, toHash(3))
      expect(await ledger.listUnfinished(over)).not.toContainEqual({ payer, nonce })
      expect(await findStoredPurchase(wall, credit.payment)).toEqual({
        ...credit,
        state: { kind: 'credited', tx: toHash(3) },
      })
    },
  )

  test('a payment that held nothing is stored as released with its first listing, and gets a block if it settles', async (wall) => {
    await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(2, 2))
    const payment = { ...createTestPayment(1, 1), identifier: 'order-0000000001' }
    const unclaimed = { payment, target: parseBlockOrThrow('3,4'), listing: createTestListing(), head: HEAD }
    const kept = await wall.ledger.recordUnclaimed(unclaimed, NOW)
    expect(kept).toEqual({ ...unclaimed, block: parseBlockOrThrow('3,4'), state: { kind: 'released', isFinal: false } })
    expect(await findStoredPurchase(wall, payment)).toEqual(kept)
    const { payer, nonce } = payment
    expect(await wall.ledger.listUnfinished(NOW)).toContainEqual({ payer, nonce })

    const owed = await wall.ledger.fulfilLatePayment(kept, toHash(1), NOW)
    expect(owed).toMatchObject({ ...unclaimed, block: CLAIM_ORDER[0], state: { kind: 'sold', unanswered: true } })
    expect(await findStoredPurchase(wall, payment)).toEqual(owed)
    expect(await wall.ledger.fulfilLatePayment(kept, toHash(1), NOW)).toEqual(owed)
  })

  test('a known payment cannot be stored again as a payment that held nothing', async (wall) => {
    const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    const { payment, target, listing, head } = held
    const again = wall.ledger.recordUnclaimed({ payment, target, listing, head }, NOW)
    expect(await catchFailure(again)).toBeInstanceOf(StaleWriteError)
    expect(await findStoredPurchase(wall, payment)).toEqual(held)
  })

  test('a released payment whose nonce was signed again for another amount is not claimed', async (wall) => {
    const { ledger } = wall
    const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    await ledger.release(held, false)
    const { payment, target, listing } = held
    const dearer = { ...payment, amount: 2_000_000n, accepted: { ...payment.accepted, amount: 2_000_000n } }
    for (const validBefore of [payment.validBefore - 1n, payment.validBefore + 1n])
      expect(
        await catchFailure(ledger.claim(target, { ...dearer, validBefore }, listing, HEAD, NOW, [])),
      ).toBeInstanceOf(StaleWriteError)
    expect(await findStoredPurchase(wall, payment)).toEqual({ ...held, state: { kind: 'released', isFinal: false } })
    expect(await ledger.checkSpace(target)).toBe('open')
  })

  test('a held payment cannot be fulfilled as a late payment', async (wall) => {
    const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    expect(await catchFailure(wall.ledger.fulfilLatePayment(held, toHash(1), NOW))).toBeInstanceOf(StaleWriteError)
    expect(await findStoredPurchase(wall, held.payment)).toEqual(held)
  })

  test('exactly the payments without a final outcome are listed as unfinished, oldest first', async (wall) => {
    const { ledger } = wall
    const final = await reserveTarget(wall, 'next', createTestPayment(1, 1))
    await ledger.release(final, true)
    const watched = await reserveTarget(wall, 'next', createTestPayment(1, 2))
    await ledger.release(watched, false)
    await sellBlock(wall, 'next', 1, 3)
    const unseen = await ledger.finalize(
      await reserveTarget(wall, 'next', createTestPayment(1, 4)),
      toHash(4),
      false,
      NOW,
    )
    const held = await reserveTarget(wall, 'next', createTestPayment(1, 5))
    const keys = [watched, unseen, held].map(({ payment: { payer, nonce } }) => ({ payer, nonce }))
    expect(await ledger.listUnfinished(NOW)).toEqual(keys)
    await ledger.confirm(unseen, toHash(4))
    expect(await ledger.listUnfinished(NOW)).toEqual(keys.toSpliced(1, 1))
  })

  test('a confirmed sale is checked again after 20 seconds and after its authorization’s expiry, and then never again', async (wall) => {
    const { ledger } = wall
    const sold = await sellBlock(wall, 'next', 1, 1)
    const [soon, late] = [
      NOW + FIRST_CONFIRMATION_MS,
      (Number(sold.payment.validBefore) + 1) * 1000 + LAST_CONFIRMATION_MS,
    ]
    const isListed = async (now: number) => (await ledger.listUnfinished(now)).length === 1
    expect([await isListed(soon - 1), await isListed(soon)]).toEqual([false, true])
    await ledger.confirm(sold, toHash(1))
    expect([await isListed(soon), await isListed(late)]).toEqual([false, true])
    await ledger.confirm(sold, toHash(1))
    expect(await isListed(late)).toBe(true)
    await ledger.markFinal(sold, toHash(7))
    expect(await isListed(late)).toBe(false)
    expect((await findStoredPurchase(wall, sold.payment)).state).toEqual({ ...sold.state, tx: toHash(7) })
  })

  test('a sale whose payment vanished keeps its deed, and is checked until it is written off', async (wall) => {
    const { ledger } = wall
    const sold = await sellBlock(wall, 'next', 1, 1)
    for (let twice = 0; twice < 2; twice += 1) await ledger.markMissing(sold)
    expect((await findStoredPurchase(wall, sold.payment)).state).toEqual({ ...sold.state, settled: false })
    expect(await ledger.listUnfinished(NOW)).toHaveLength(1)
    for (let twice = 0; twice < 2; twice += 1) await ledger.writeOff(sold)
    expect(await ledger.listUnfinished(NOW + 1e9)).toEqual([])
    expect(await wall.blocks.findOwned(sold.block)).toMatchObject({ wallet: sold.payment.payer, settled: false })
  })
}

function testPriors(test: EngineTest): void {
  test('a payer that orders the same target again gets its unanswered purchase, and an order of any other target starts a new purchase', async (wall) => {
    const { ledger } = wall
    const held = await reserveTarget(wall, 'next', createTestPayment(1, 1))
    expect(await ledger.checkAvailability('next', createTestPayment(1, 2), NOW, [])).toEqual({
      space: 'open',
      prior: held,
    })
    expect(await ledger.claim('next', createTestPayment(1, 2), createTestListing(), HEAD, NOW, [])).toEqual({
      kind: 'prior',
    })
    for (const [target, payment] of [
      [held.block, createTestPayment(1, 2)],
      [parseBlockOrThrow('3,4'), createTestPayment(1, 2)],
      ['next', createTestPayment(2, 2)],
      ['next', createTestPayment(1, 1)],
    ] as const)
      expect((await ledger.checkAvailability(target, payment, NOW, [])).prior).toBeUndefined()
    await reserveTarget(wall, 'next', createTestPayment(2, 2))
    await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 2))
  })

  test('while a purchase is in progress, a new order of its payer starts another purchase, unless the payer was asked to wait', async (wall) => {
    const { ledger } = wall
    const held = await reserveTarget(wall, 'next', createTestPayment(1, 1))
    const activeNonces = [held.payment.nonce]
    const findPrior = async () =>
      (await ledger.checkAvailability('next', createTestPayment(1, 2), NOW, activeNonces)).prior
    expect(await findPrior()).toBeUndefined()
    const waiting = await ledger.markUncertain(held)
    expect(await findPrior()).toEqual(waiting)
    expect(await ledger.claim('next', createTestPayment(1, 2), SILENT, HEAD, NOW, activeNonces)).toEqual({
      kind: 'prior',
    })
    await ledger.finalize(waiting, toHash(1), true, NOW)
    expect(await findPrior()).toBeUndefined()
  })

  test('the payer of a held block gets the held purchase instead of an error that the block is held', async (wall) => {
    const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    expect(await wall.ledger.checkAvailability(parseBlockOrThrow('3,4'), createTestPayment(1, 2), NOW, [])).toEqual({
      space: 'reserved',
      prior: held,
    })
    expect(await wall.ledger.claim(parseBlockOrThrow('3,4'), createTestPayment(1, 2), SILENT, HEAD, NOW, [])).toEqual({
      kind: 'prior',
    })
  })

  test('a payment with the payment-identifier of an earlier purchase by the same payer gets that purchase, whatever its state and whatever is ordered', async (wall) => {
    const { ledger } = wall
    const createNamedPayment = (nonce: number) => ({ ...createTestPayment(1, nonce), identifier: 'order-0000000001' })
    const held = await reserveTarget(wall, 'next', createNamedPayment(1))
    expect((await findStoredPurchase(wall, held.payment)).payment).toEqual(createNamedPayment(1))
    const findPriorTo = async (payment: Payment) =>
      (
        await ledger.checkAvailability(parseBlockOrThrow('3,4'), payment, NOW + 1000 * MINUTE_MS, [
          createNamedPayment(1).nonce,
        ])
      ).prior
    expect(await findPriorTo(createNamedPayment(2))).toEqual(held)
    expect(await ledger.claim('next', createNamedPayment(2), SILENT, HEAD, NOW, [createNamedPayment(1).nonce])).toEqual(
      { kind: 'prior' },
    )
    const sold = await ledger.finalize(held, toHash(1), true, NOW)
    await ledger.markAnswered(sold.payment)
    expect(await findPriorTo(createNamedPayment(2))).toMatchObject({ state: { kind: 'sold', unanswered: false } })
    expect(await findPriorTo({ ...createNamedPayment(2), identifier: 'order-0000000002' })).toBeUndefined()
    expect(await findPriorTo({ ...createTestPayment(2, 1), identifier: 'order-0000000001' })).toBeUndefined()
  })

  test('a new order of the same target gets the payer’s unsent receipt for ten minutes, and a new order of the bought block gets that receipt at any time', async (wall) => {
    const { ledger } = wall
    const sold = await ledger.finalize(await reserveTarget(wall, 'next', createTestPayment(1, 1)), toHash(1), true, NOW)
    const findPriorAt = async (now: number, target: Target = 'next') =>
      (await ledger.checkAvailability(target, createTestPayment(1, 2), now, [])).prior
    expect(await findPriorAt(NOW + 10 * MINUTE_MS - 1)).toEqual(sold)
    expect(await findPriorAt(NOW + 10 * MINUTE_MS)).toBeUndefined()
    expect(await findPriorAt(NOW + 1000 * MINUTE_MS, sold.block)).toEqual(sold)
    const claimBlock = () => ledger.claim('next', createTestPayment(1, 2), createTestListing(), HEAD, NOW, [])
    expect(await claimBlock()).toEqual({ kind: 'prior' })
    await ledger.markAnswered(sold.payment)
    expect([await findPriorAt(NOW), await findPriorAt(NOW, sold.block)]).toEqual([undefined, undefined])
    expect(await claimBlock()).toMatchObject({ kind: 'claimed' })
  })

  test('a receipt that was returned for later payments stays the response to exactly those payments, and none of them is claimed', async (wall) => {
    const { ledger } = wall
    const sold = await ledger.finalize(await reserveTarget(wall, 'next', createTestPayment(1, 1)), toHash(1), true, NOW)
    for (const to of [2, 3, 2]) expect(await ledger.reuseReceipt(sold, toHash(to))).toBe(true)
    const findPriorPurchase = async (payment: Payment) =>
      (await ledger.checkAvailability('next', payment, NOW, [])).prior
    expect(await findPriorPurchase(createTestPayment(1, 4))).toEqual(sold)
    await ledger.markAnswered(sold.payment)
    expect([await ledger.reuseReceipt(sold, toHash(3)), await ledger.reuseReceipt(sold, toHash(4))]).toEqual([
      true,
      false,
    ])
    for (const nonce of [2, 3]) {
      const state = { ...sold.state, unanswered: false, receiptReusedFor: toHash(nonce) }
      expect(await findPriorPurchase(createTestPayment(1, nonce))).toEqual({ ...sold, state })
      expect(await ledger.claim('next', createTestPayment(1, nonce), SILENT, HEAD, NOW, [])).toEqual({ kind: 'prior' })
    }
    expect([
      await findPriorPurchase(createTestPayment(1, 4)),
      await findPriorPurchase(createTestPayment(2, 2)),
    ]).toEqual([undefined, undefined])
  })

  test('a receipt is returned for at most sixteen later payments, and for no payment with a purchase of its own', async (wall) => {
    const { ledger } = wall
    const sold = await ledger.finalize(await reserveTarget(wall, 'next', createTestPayment(1, 1)), toHash(1), true, NOW)
    const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 2))
    expect(await ledger.reuseReceipt(sold, held.payment.nonce)).toBe(false)
    expect(await ledger.reuseReceipt(sold, sold.payment.nonce)).toBe(false)
    const answers: boolean[] = []
    for (let nonce = 3; nonce < 20; nonce += 1) answers.push(await ledger.reuseReceipt(sold, toHash(nonce)))
    expect(answers.map(Number).join('')).toBe('11111111111111110')
  })
}

function testLimits(test: EngineTest, testLast: EngineTest): void {
  test('a payer with 16 open purchases cannot begin another purchase until one of them ends', async (wall) => {
    const { ledger } = wall
    const held = await Promise.all(
      Array.from({ length: 16 }, async (_, nonce) => await reserveTarget(wall, 'next', createTestPayment(1, nonce))),
    )
    const claimAgain = () =>
      ledger.claim(parseBlockOrThrow('3,4'), createTestPayment(1, 16), createTestListing(), HEAD, NOW, [])
    expect((await ledger.checkAvailability('next', createTestPayment(1, 16), NOW, [])).space).toBe('full')
    expect((await ledger.checkAvailability(held[0]?.block ?? 'next', createTestPayment(1, 16), NOW, [])).space).toBe(
      'reserved',
    )
    expect((await ledger.checkAvailability('next', createTestPayment(2, 16), NOW, [])).space).toBe('open')
    expect(await claimAgain()).toEqual({ kind: 'lost', space: 'full' })
    for (const purchase of held.slice(0, 1)) await ledger.release(purchase, false)
    expect(await claimAgain()).toMatchObject({ kind: 'claimed' })
  })

  testLast('the wall is sold out only when its last block is sold, not while that block is held', async (wall) => {
    const { ledger } = wall
    const readAllSpaces = async () => [
      await ledger.checkSpace('next'),
      (await ledger.checkAvailability('next', createTestPayment(2, 2), NOW, [])).space,
    ]
    const claimNext = () => ledger.claim('next', createTestPayment(2, 2), createTestListing(), HEAD, NOW, [])
    expect(await readAllSpaces()).toEqual(['open', 'open'])
    const held = await reserveTarget(wall, 'next', createTestPayment(1, 1))
    expect(held.block).toBe(CLAIM_ORDER.at(-1) ?? held.block)
    expect(await readAllSpaces()).toEqual(['reserved', 'reserved'])
    expect(await claimNext()).toEqual({ kind: 'lost', space: 'reserved' })
    await ledger.finalize(held, toHash(1), true, NOW)
    expect(await readAllSpaces()).toEqual(['claimed', 'claimed'])
    expect(await claimNext()).toEqual({ kind: 'lost', space: 'claimed' })
  })
}
