import { describe, expect, test } from 'bun:test'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import type { SettleResult } from '../../../server/domain/purchase/facilitator-errors.ts'
import type { Payment, PaymentKey } from '../../../server/domain/purchase/payment.ts'
import type { Chain, Ledger } from '../../../server/ports.ts'
import { readChainStatus } from '../../../server/purchase/chain-status.ts'
import { openBlankWall } from '../../support/blank-wall.ts'
import { reserveTarget } from '../../support/engine.ts'
import { type FakeChain, createFakeChain } from '../../support/fakes/chain.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeFacilitator } from '../../support/fakes/facilitator.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import { armedRail } from '../../support/fakes/rail.ts'
import { readNonceOrCode, createSellerWith } from '../../support/fakes/seller.ts'
import { FORGED } from '../../support/fakes/wallets.ts'
import {
  parseBlockOrThrow,
  toHash,
  HEAD,
  NOW,
  createTestPayment,
  createPixels,
  SILENT,
  TERMS,
  createWalletAddress,
} from '../../support/samples.ts'

// Goal: the driver of a purchase script handles clients that hang up and writes that fail, and limits the number of
// settlements.

type Verb = keyof Ledger

/**
 * A seller with the real ledger. The store fails at the verbs in `down`; `atSettle` is called during a settlement, and
 * `atStore` before the store executes a verb.
 */
async function openSeller() {
  const db = await openBlankWall()
  const chain = createFakeChain()
  const honest = createFakeFacilitator(chain)
  // Waiting takes no real time here.
  const clock = { ...createFakeClock(NOW), wait: async () => {} }
  const logger = createFakeLogger()
  const down = new Set<Verb>()
  const world = {
    atSettle: () => {},
    atStore: undefined as ((verb: Verb) => void) | undefined,
    atVerify: undefined as ((payment: Payment) => void) | undefined,
    settling: undefined as SettleResult | undefined,
  }
  const facilitator = {
    ...honest,
    verify: async (...asked: Parameters<typeof honest.verify>) => {
      if (world.atVerify === undefined) return await honest.verify(...asked)
      world.atVerify(asked[1])
      return { kind: 'invalid', reason: 'invalid_exact_evm_insufficient_balance' } as const
    },
    settle: async (...asked: Parameters<typeof honest.settle>) => {
      world.atSettle()
      return world.settling ?? (await honest.settle(...asked))
    },
  }
  const ledger = new Proxy(db.ledger, {
    get(whole, verb: Verb) {
      if (down.has(verb)) return () => Promise.reject(new StoreUnavailable('down'))
      world.atStore?.(verb)
      return Reflect.get(whole, verb)
    },
  })
  const reported = { payments: 0 }
  const countStoredPayment = () => void (reported.payments += 1)
  const sold = createSellerWith({ ledger, facilitator, chain, clock, logger, onStored: countStoredPayment })
  const buyNextBlock = (payment: Payment, client?: AbortSignal) => sold.buy('next', payment, SILENT, client)
  const listCharged = () => honest.settled.map(({ nonce }) => nonce)
  return { db, chain, clock, logger, down, world, sold, reported, buyNextBlock, charged: listCharged }
}

type World = Awaited<ReturnType<typeof openSeller>>

/** Sends the first payment; its client hangs up during the settlement, or when the store executes the verb `during`. */
async function buyAndHangUp({ world, buyNextBlock }: World, during: Verb | 'settle' = 'settle') {
  const client = new AbortController()
  if (during === 'settle') world.atSettle = () => client.abort()
  else world.atStore = (verb) => verb === during && client.abort()
  return await buyNextBlock(createTestPayment(1, 1), client.signal)
}

describe('a client that hangs up while its payment settles', () => {
  test.each(['settle', 'finalize'] as const)(
    'a client that hangs up during %s, and then signs a new payment, gets the receipt and is not charged again',
    async (during) => {
      const seller = await openSeller()
      await buyAndHangUp(seller, during)
      expect(readNonceOrCode(await seller.buyNextBlock(createTestPayment(1, 2)))).toBe(toHash(1))
      expect(seller.charged()).toEqual([toHash(1)])
    },
  )

  test('a client that hangs up while its payment settles does not stop its purchase', async () => {
    const seller = await openSeller()
    await buyAndHangUp(seller)
    expect(await seller.db.ledger.find(createTestPayment(1, 1))).toMatchObject({
      state: { kind: 'sold', unanswered: true },
    })
  })

  test('if a client hung up, and only the sender of a copy of its request got the receipt, the client is still owed the receipt', async () => {
    const seller = await openSeller()
    const { buyNextBlock, charged } = seller
    const answers = await Promise.all([buyAndHangUp(seller), buyNextBlock(createTestPayment(1, 1))])
    expect(answers.map(readNonceOrCode)).toEqual([toHash(1), toHash(1)])
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 2)))).toBe(toHash(1))
    expect(charged()).toEqual([toHash(1)])
  })
})

test('a claim is reported to the witness before its payment is settled', async () => {
  const { world, buyNextBlock, reported } = await openSeller()
  let before = 0
  world.atSettle = () => void (before = reported.payments)
  await buyNextBlock(createTestPayment(1, 1))
  expect(before).toBe(1)
})

test('a payment that a facilitator rejects is stored, and reported to the witness', async () => {
  const { world, buyNextBlock, reported, db } = await openSeller()
  world.atVerify = () => {}
  await buyNextBlock(createTestPayment(1, 1))
  expect(await db.ledger.find(createTestPayment(1, 1))).toMatchObject({ state: { kind: 'released' } })
  expect(reported.payments).toBe(1)
})

test('a client that hangs up before its block is held is not charged', async () => {
  const seller = await openSeller()
  await buyAndHangUp(seller, 'checkAvailability')
  expect(await seller.db.ledger.find(createTestPayment(1, 1))).toBeUndefined()
  expect(seller.charged()).toHaveLength(0)
})

test('a payment that was refused is watched by the next process, and gets its block if somebody broadcasts the payment', async () => {
  const { db, world, buyNextBlock, chain, clock, logger } = await openSeller()
  world.atVerify = () => {}
  expect(await buyNextBlock(createTestPayment(1, 1))).toMatchObject({ details: { charged: 'unknown' } })
  chain.transferPayment(createTestPayment(1, 1))
  const later = createSellerWith({ ledger: db.ledger, facilitator: createFakeFacilitator(chain), chain, clock, logger })
  for (const key of await db.ledger.listUnfinished(NOW)) await later.reconcile(key)
  expect(readNonceOrCode(await later.buy('next', createTestPayment(1, 1), SILENT))).toBe(toHash(1))
})

test('if somebody else broadcasts a refused payment, sending that payment again buys its block with the first listing', async () => {
  const { world, buyNextBlock, sold, chain, db } = await openSeller()
  world.atVerify = () => {}
  await buyNextBlock(createTestPayment(1, 1))
  chain.transferPayment(createTestPayment(1, 1))
  const other = { ...SILENT, message: 'not the payer’s', pixels: createPixels(5) }
  expect(readNonceOrCode(await sold.buy('next', createTestPayment(1, 1), other))).toBe(toHash(1))
  expect(await db.ledger.find(createTestPayment(1, 1))).toMatchObject({ listing: SILENT })
})

describe('money that reached the wall before the payment did', () => {
  const moved = { kind: 'failure', code: 'payment_unmatched', details: { charged: 'yes' } }

  test('a payment whose money arrived before the payment was sent to the wall gets payment_unmatched instead of a payment demand', async () => {
    const { buyNextBlock, chain, charged } = await openSeller()
    const tx = chain.transferPayment(createTestPayment(1, 1))
    expect(await buyNextBlock(createTestPayment(1, 1))).toMatchObject({
      code: 'payment_unmatched',
      details: { charged: 'yes', tx, amount: '1000000', contact: null },
    })
    expect(charged()).toHaveLength(0)
  })

  test('a payment whose money arrived before it gets payment_unmatched, even if it has expired or its block is sold', async () => {
    const { buyNextBlock, sold, chain, clock } = await openSeller()
    chain.transferPayment(createTestPayment(1, 1))
    await sold.buy(parseBlockOrThrow('3,4'), createTestPayment(2, 2), SILENT)
    expect(await sold.buy(parseBlockOrThrow('3,4'), createTestPayment(1, 1), SILENT)).toMatchObject(moved)
    clock.advance(3_600_000)
    expect(await buyNextBlock(createTestPayment(1, 1))).toMatchObject(moved)
  })

  test('a payment whose money arrived before it gets payment_unmatched, even if it used a former address and price of the wall', async () => {
    const { db, chain, clock, logger } = await openSeller()
    const former = createWalletAddress(8)
    const accepted = { ...createTestPayment(1, 1).accepted, payTo: former, amount: 2_000_000n }
    const payment = { ...createTestPayment(1, 1), to: former, amount: 2_000_000n, accepted }
    chain.transferPayment(payment)
    const given = { ledger: db.ledger, facilitator: createFakeFacilitator(chain), chain, clock, logger }
    const now = createSellerWith({ ...given, payees: new Set([TERMS.payTo, former]) })
    expect(await now.buy('next', payment, SILENT)).toMatchObject(moved)
    const never = await createSellerWith(given).buy('next', payment, SILENT)
    expect(never).toMatchObject({ code: 'payment_required', details: { charged: 'unknown' } })
  })

  test('a payment whose money arrived before the payment was sent is not reported as uncharged while the chain does not respond', async () => {
    const { buyNextBlock, chain, clock } = await openSeller()
    chain.transferPayment(createTestPayment(1, 1))
    chain.silent = true
    clock.advance(3_600_000)
    expect(await buyNextBlock(createTestPayment(1, 1))).toMatchObject({
      code: 'settlement_unknown',
      details: { charged: 'unknown' },
    })
  })
})

describe('a nonce that its own payer signed again', () => {
  test.each<[string, SettleResult | undefined]>([
    ['yes', undefined],
    ['unknown', { kind: 'unclear' }],
  ])(
    'if a nonce is signed again with a different expiry, the response says whether the first payment was charged: %s',
    async (isCharged, settling) => {
      const { world, buyNextBlock } = await openSeller()
      world.settling = settling
      await buyNextBlock(createTestPayment(1, 1))
      const resigned = { ...createTestPayment(1, 1), validBefore: createTestPayment(1, 1).validBefore - 1n }
      expect(await buyNextBlock(resigned)).toMatchObject({ code: 'payment_used', details: { charged: isCharged } })
    },
  )

  test('if a nonce is signed again for a different price after its first payment was released, neither payment is settled', async () => {
    const { world, buyNextBlock, db, charged } = await openSeller()
    world.settling = { kind: 'refused', reason: 'invalid_exact_evm_insufficient_balance' }
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 1)))).toBe('payment_required')
    world.settling = undefined
    const { validBefore, accepted } = createTestPayment(1, 1)
    const dearer = { amount: 2_000_000n, accepted: { ...accepted, amount: 2_000_000n } }
    for (const until of [validBefore - 1n, validBefore + 1n]) {
      const resigned = { ...createTestPayment(1, 1), ...dearer, validBefore: until }
      expect(await buyNextBlock(resigned)).toMatchObject({ code: 'payment_used', details: { charged: 'unknown' } })
    }
    expect(charged()).toHaveLength(0)
    expect(await db.ledger.find(createTestPayment(1, 1))).toMatchObject({
      payment: { amount: TERMS.amount, validBefore },
    })
  })

  test('if a nonce is signed again for a different price, the response reports the charge as unknown, even if the first payment can no longer settle', async () => {
    const { world, buyNextBlock, db } = await openSeller()
    world.settling = { kind: 'refused', reason: 'invalid_exact_evm_insufficient_balance' }
    await buyNextBlock(createTestPayment(1, 1))
    const first = await db.ledger.find(createTestPayment(1, 1))
    if (first === undefined) throw new Error('the first payment is not stored')
    await db.ledger.release(first, true)
    const dearer = { amount: 2_000_000n, accepted: { ...createTestPayment(1, 1).accepted, amount: 2_000_000n } }
    expect(await buyNextBlock({ ...createTestPayment(1, 1), ...dearer })).toMatchObject({
      code: 'payment_used',
      details: { charged: 'unknown' },
    })
  })
})

test('a payment is not treated as unspent if the chain block in which it was spent is replaced', async () => {
  const reads = [false, true].map((spent, at) => ({ head: BigInt(at), spent }))
  const chain: Chain = {
    ...createFakeChain(),
    readAuthorization: async () => reads.shift() ?? 'silent',
    readPaymentStatus: async () => ({ kind: 'unspent' }),
  }
  const question = { do: 'ask-chain', payment: createTestPayment(1, 1), head: 0n, wait: 'next-block' } as const
  expect(await readChainStatus({ chain, clock: createFakeClock(NOW) }, question)).toEqual({ kind: 'silent' })
})

describe('a released payment that is sent again', () => {
  /**
   * The response to a released payment that may still settle; `read` reads its status from the chain. With `isOther`,
   * its payer has another open purchase.
   */
  async function resendReleased(
    isOther: boolean,
    read: (chain: FakeChain, key: PaymentKey) => ReturnType<Chain['readAuthorization']>,
  ) {
    const { db, chain, clock, logger } = await openSeller()
    const block = parseBlockOrThrow('3,4')
    const first = await reserveTarget(db, block, createTestPayment(1, 1))
    await db.ledger.release(first, false)
    if (isOther) await reserveTarget(db, block, createTestPayment(1, 2))
    const reading: Chain = { ...chain, readAuthorization: (key) => read(chain, key) }
    const sold = createSellerWith({
      ledger: db.ledger,
      facilitator: createFakeFacilitator(chain),
      chain: reading,
      clock,
      logger,
    })
    return readNonceOrCode(await sold.buy(block, first.payment, SILENT))
  }

  test('a payer with another open purchase gets no payment demand, even if its released payment becomes void while it is retried', async () => {
    const code = await resendReleased(true, async (chain, key) => {
      chain.cancelAuthorization(key)
      return await chain.readAuthorization(key)
    })
    expect(code).toBe('settlement_unknown')
  })

  test('a payer whose released payment may still settle is asked to wait if the chain stops responding', async () => {
    expect(await resendReleased(false, async () => 'silent')).toBe('settlement_unknown')
  })
})

test('a payer gets no new payment demand if the facilitator reports the nonce as used and the chain does not', async () => {
  const { db, chain, clock, logger } = await openSeller()
  const verify = async () => ({ kind: 'invalid', reason: 'invalid_exact_evm_nonce_already_used' }) as const
  const facilitator = { ...createFakeFacilitator(chain), verify }
  const sold = createSellerWith({ ledger: db.ledger, facilitator, chain, clock, logger })
  expect(readNonceOrCode(await sold.buy('next', createTestPayment(1, 1), SILENT))).toBe('settlement_unknown')
})

test('a payer gets an owed receipt even while payments cannot be accepted', async () => {
  const seller = await openSeller()
  const { db, chain, clock, logger } = seller
  await buyAndHangUp(seller)
  const rail = { ...armedRail, readState: () => 'arming' as const }
  const unarmed = createSellerWith({
    ledger: db.ledger,
    facilitator: createFakeFacilitator(chain),
    chain,
    clock,
    logger,
    rail,
  })
  expect(readNonceOrCode(await unarmed.buy('next', createTestPayment(1, 2), SILENT))).toBe(toHash(1))
  expect(readNonceOrCode(await unarmed.buy('next', createTestPayment(1, 3), SILENT))).toBe('facilitator_unavailable')
})

describe('a receipt that was sent', () => {
  test('a receipt that was sent ends its purchase, so that ten purchases in a row buy ten blocks', async () => {
    const { buyNextBlock } = await openSeller()
    const blocks: unknown[] = []
    for (let nonce = 1; nonce <= 10; nonce += 1) {
      const outcome = await buyNextBlock(createTestPayment(1, nonce))
      blocks.push(outcome.kind === 'bought' && outcome.purchase.block)
    }
    expect(new Set(blocks).size).toBe(10)
  })

  test('a receipt that could not be marked as sent is returned for the next payment without a charge, however often and late that payment is sent', async () => {
    const { clock, down, buyNextBlock, sold, charged } = await openSeller()
    down.add('markAnswered')
    await buyNextBlock(createTestPayment(1, 1))
    await sold.waitUntilIdle()
    down.clear()
    const copies = await Promise.all([buyNextBlock(createTestPayment(1, 2)), buyNextBlock(createTestPayment(1, 2))])
    await sold.waitUntilIdle()
    const brief = { ...createTestPayment(1, 2), validBefore: BigInt(clock.now() / 1000) }
    for (const copy of [...copies, await buyNextBlock(createTestPayment(1, 2)), await buyNextBlock(brief)])
      expect(copy).toMatchObject({ isEarlier: true, purchase: { payment: { nonce: toHash(1) } } })
    const elsewhere = await sold.buy(parseBlockOrThrow('3,4'), createTestPayment(1, 2), SILENT)
    expect(elsewhere).toMatchObject({
      code: 'payment_used',
      message: expect.stringContaining('new nonce'),
    })
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 3)))).toBe(toHash(3))
    expect(charged()).toEqual([toHash(1), toHash(3)])
  })

  test('if an owed receipt is for a block other than the requested one, the response says so, and sending the request again buys the requested block', async () => {
    const { db, sold, charged } = await openSeller()
    const block = parseBlockOrThrow('3,4')
    const first = await reserveTarget(db, block, createTestPayment(1, 1))
    await db.ledger.release(first, false)
    const other = await reserveTarget(db, block, createTestPayment(2, 1))
    await db.ledger.fulfilLatePayment(first, toHash(1), NOW)
    await db.ledger.release(other, false)
    const buyAndWait = async () => {
      const outcome = await sold.buy(block, createTestPayment(1, 2), SILENT)
      await sold.waitUntilIdle()
      return outcome
    }
    expect(await buyAndWait()).toMatchObject({
      code: 'payment_used',
      message: expect.stringContaining('send the same request again'),
    })
    expect(await buyAndWait()).toMatchObject({ purchase: { block } })
    expect(charged()).toEqual([toHash(2)])
  })

  test('an unsent receipt is returned for one of two parallel payments, and the response to the other payment asks the payer to wait', async () => {
    const seller = await openSeller()
    await buyAndHangUp(seller)
    const answers = await Promise.all([
      seller.buyNextBlock(createTestPayment(1, 2)),
      seller.buyNextBlock(createTestPayment(1, 3)),
    ])
    expect(answers.map(readNonceOrCode).toSorted()).toEqual([toHash(1), 'settlement_unknown'])
  })
})

test('a payment that is resent after a 503 gets its receipt, and the next payment of the same payer gets that receipt once more', async () => {
  const { world, buyNextBlock, clock, charged } = await openSeller()
  world.settling = { kind: 'unclear' }
  expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 1)))).toBe('settlement_unknown')
  world.settling = undefined
  clock.advance(5000)
  expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 1)))).toBe(toHash(1))
  expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 2)))).toBe(toHash(1))
  expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 3)))).toBe(toHash(3))
  expect(charged()).toEqual([toHash(1), toHash(3)])
})

describe('a purchase with a payment-identifier', () => {
  const createNamedPayment = (nonce: number) => ({ ...createTestPayment(1, nonce), identifier: 'order-0000000001' })

  test('a purchase with a payment-identifier is made once and has one receipt, however often its payment is signed again', async () => {
    const { buyNextBlock, clock, charged } = await openSeller()
    expect(readNonceOrCode(await buyNextBlock(createNamedPayment(1)))).toBe(toHash(1))
    clock.advance(3_600_000)
    for (const nonce of [2, 3])
      expect(readNonceOrCode(await buyNextBlock(signFreshAt(clock.now(), createNamedPayment(nonce))))).toBe(toHash(1))
    expect(charged()).toEqual([toHash(1)])
  })

  test('a payment-identifier that was used for one purchase cannot be used for a different target', async () => {
    const { sold, buyNextBlock } = await openSeller()
    await buyNextBlock(createNamedPayment(1))
    expect(readNonceOrCode(await sold.buy(parseBlockOrThrow('0,0'), createNamedPayment(2), SILENT))).toBe(
      'payment_used',
    )
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 3)))).toBe(toHash(3))
  })

  test('the response to an expired payment with a used payment-identifier says that an earlier payment bought the block', async () => {
    const { buyNextBlock, clock, charged } = await openSeller()
    await buyNextBlock(createNamedPayment(1))
    clock.advance(3_600_000)
    expect(await buyNextBlock(createNamedPayment(2))).toMatchObject({
      code: 'payment_used',
      message: expect.stringContaining('an earlier payment of yours already bought'),
    })
    expect(charged()).toEqual([toHash(1)])
  })
})

/** The same payment, valid until 300 seconds after `now`. */
const signFreshAt = (now: number, payment: Payment): Payment => ({
  ...payment,
  validBefore: BigInt(Math.floor(now / 1000)) + 300n,
})

describe('a known payment that somebody else sends', () => {
  const forged = { ...createTestPayment(1, 1), signature: FORGED }

  test('a sender with a forged signature of a known payment learns nothing about the purchase', async () => {
    const { sold, buyNextBlock } = await openSeller()
    await buyNextBlock(createTestPayment(1, 1))
    expect(readNonceOrCode(await sold.buy(parseBlockOrThrow('79,44'), forged, SILENT))).toBe('block_taken')
    expect(readNonceOrCode(await buyNextBlock(forged))).toBe('payment_required')
  })

  test('the sender of a forged copy of a payment in progress does not get the payer’s response', async () => {
    const { buyNextBlock } = await openSeller()
    const answers = await Promise.all([buyNextBlock(createTestPayment(1, 1)), buyNextBlock(forged)])
    expect(answers.map(readNonceOrCode)).toEqual([toHash(1), 'payment_required'])
  })
})

test('a held target counts as reserved while its run has a client, and as uncertain afterwards', async () => {
  const { world, sold, buyNextBlock } = await openSeller()
  const block = parseBlockOrThrow('79,44')
  const during: unknown[] = []
  world.atSettle = () => void during.push(sold.readOffer(block))
  world.settling = { kind: 'unclear' }
  expect(await sold.readOffer(block)).toBe('open')
  await buyNextBlock(createTestPayment(1, 1))
  expect(await Promise.all(during)).toEqual(['reserved'])
  await sold.waitUntilIdle()
  expect(await sold.readOffer(block)).toBe('uncertain')
})

test('a client that resends a settled payment and hangs up is owed nothing', async () => {
  const { world, buyNextBlock, db } = await openSeller()
  await buyNextBlock(createTestPayment(1, 1))
  const client = new AbortController()
  world.atStore = () => client.abort()
  await buyNextBlock(createTestPayment(1, 1), client.signal)
  expect(await db.ledger.find(createTestPayment(1, 1))).toMatchObject({ state: { unanswered: false } })
})

describe('writes that the store could not accept', () => {
  test('a receipt that could not be returned because the store failed stays owed', async () => {
    const seller = await openSeller()
    const { world, down, buyNextBlock, charged } = seller
    await buyAndHangUp(seller)
    world.atStore = (verb) => verb === 'checkAvailability' && down.add('reuseReceipt')
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 2)))).toBe('database_unavailable')
    world.atStore = undefined
    down.clear()
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 3)))).toBe(toHash(1))
    expect(charged()).toHaveLength(1)
  })

  test('if the store cannot mark a receipt as sent, the receipt is still returned', async () => {
    const { world, down, buyNextBlock, clock } = await openSeller()
    world.settling = { kind: 'unclear' }
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 1)))).toBe('settlement_unknown')
    world.settling = undefined
    clock.advance(5000)
    down.add('markAnswered')
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 1)))).toBe(toHash(1))
  })

  test('while a sale cannot be stored, its payer buys nothing new', async () => {
    const { down, buyNextBlock, charged } = await openSeller()
    for (const verb of ['finalize', 'markUncertain'] as const) down.add(verb)
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 1)))).toBe('deed_not_persisted')
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 2)))).toBe('settlement_unknown')
    down.clear()
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 3)))).toBe(toHash(1))
    expect(charged()).toHaveLength(1)
  })

  test('if the store cannot write the sale of a late payment, the payment gets its block in the next sweep', async () => {
    const { db, down, buyNextBlock, sold, chain, world } = await openSeller()
    down.add('fulfilLatePayment')
    world.atVerify = (payment) => void chain.transferPayment(payment)
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 1)))).toBe('database_unavailable')
    down.clear()
    for (const key of await db.ledger.listUnfinished(NOW)) await sold.reconcile(key)
    expect(await db.ledger.find(createTestPayment(1, 1))).toMatchObject({ state: { kind: 'sold' } })
  })
})

describe('purchases that an earlier process left open', () => {
  test('an open purchase of an earlier process is still checked after a request for it has failed', async () => {
    const { db, down, buyNextBlock, sold } = await openSeller()
    await reserveTarget(db, 'next', createTestPayment(1, 1))
    down.add('find')
    const again = buyNextBlock(createTestPayment(1, 1))
    await expect(sold.reconcile(createTestPayment(1, 1))).rejects.toThrow(StoreUnavailable)
    expect(readNonceOrCode(await again)).toBe('database_unavailable')
    down.clear()
    expect(await sold.reconcile(createTestPayment(1, 1))).toBe(true)
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 2)))).toBe(toHash(1))
  })

  test('an open purchase of an earlier process is checked, however many requests use its payment for other targets', async () => {
    const { db, buyNextBlock, sold } = await openSeller()
    await reserveTarget(db, 'next', createTestPayment(1, 1))
    const elsewhere = Array.from({ length: 50 }, () =>
      sold.buy(parseBlockOrThrow('0,0'), createTestPayment(1, 1), SILENT),
    )
    expect(await sold.reconcile(createTestPayment(1, 1))).toBe(true)
    expect(new Set((await Promise.all(elsewhere)).map(readNonceOrCode))).toEqual(new Set(['payment_used']))
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 1)))).toBe(toHash(1))
  })

  test('an open purchase of an earlier process counts as checked once a request for it has queried the chain', async () => {
    const { db, world, buyNextBlock, sold } = await openSeller()
    await reserveTarget(db, 'next', createTestPayment(1, 1))
    const looked: Promise<boolean>[] = []
    world.atSettle = () => void looked.push(sold.reconcile(createTestPayment(1, 1)))
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 1)))).toBe(toHash(1))
    expect(await Promise.all(looked)).toEqual([true])
  })
})

describe('settling one payment again', () => {
  test('copies of a payment in quick succession cause one attempt to settle it, and a copy 3 s later causes another attempt', async () => {
    const { world, buyNextBlock, clock } = await openSeller()
    let tries = 0
    world.atSettle = () => void (tries += 1)
    world.settling = { kind: 'unclear' }
    for (let copy = 0; copy < 3; copy += 1)
      expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 1)))).toBe('settlement_unknown')
    expect(tries).toBe(1)
    clock.advance(3000)
    await buyNextBlock(createTestPayment(1, 1))
    expect(tries).toBe(2)
  })

  test('requests can try to settle a payment only a limited number of times, but the reconciler still settles it afterwards', async () => {
    const { db, world, buyNextBlock, sold, clock } = await openSeller()
    world.settling = { kind: 'unclear' }
    await buyNextBlock(createTestPayment(1, 1))
    let tries = 0
    world.atSettle = () => void (tries += 1)
    for (let copy = 0; copy < 300; copy += 1) {
      clock.advance(3000)
      expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 1)))).toBe('settlement_unknown')
    }
    expect(tries).toBeLessThan(300)
    world.settling = undefined
    await sold.reconcile(createTestPayment(1, 1))
    expect(await db.ledger.find(createTestPayment(1, 1))).toMatchObject({ state: { kind: 'sold' } })
  })

  test('a payment is settled again immediately if the facilitator could not be reached at all', async () => {
    const { world, buyNextBlock } = await openSeller()
    world.settling = { kind: 'unsent' }
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 1)))).toBe('facilitator_unavailable')
    world.settling = undefined
    expect(readNonceOrCode(await buyNextBlock(createTestPayment(1, 1)))).toBe(toHash(1))
  })
})

describe('a sale that was paid', () => {
  test('a sale whose payment vanished from the chain keeps its deed, and the operator gets one alert', async () => {
    const { buyNextBlock, sold, chain, logger, db } = await openSeller()
    await buyNextBlock(createTestPayment(1, 1))
    await sold.waitUntilIdle()
    chain.expireAuthorization(createTestPayment(1, 1))
    chain.cancelAuthorization(createTestPayment(1, 1))
    await sold.reconcile(createTestPayment(1, 1))
    await sold.reconcile(createTestPayment(1, 1))
    expect(logger.alerts).toEqual([
      { event: 'payment-lost', facts: { payer: createTestPayment(1, 1).payer, nonce: toHash(1), block: '79,44' } },
    ])
    expect(await db.blocks.findOwned(parseBlockOrThrow('79,44'))).toMatchObject({ settled: false })
  })
})

describe('a credit', () => {
  test('a payment gets payment_credited if its money is booked as a credit while the payment is being refused', async () => {
    const { db, chain, clock } = await openSeller()
    const payment = createTestPayment(1, 1)
    const credit = { payment, target: 'next', listing: SILENT, head: HEAD } as const
    const ledger: Ledger = {
      ...db.ledger,
      checkAvailability: async (...asked) => {
        const found = await db.ledger.checkAvailability(...asked)
        if ((await db.ledger.find(payment)) === undefined)
          await db.payouts.recordCredit(credit, chain.transferPayment(payment), NOW)
        return found
      },
    }
    const rail = { ...armedRail, readState: () => 'arming' as const }
    const unarmed = createSellerWith({ ledger, facilitator: createFakeFacilitator(chain), chain, clock, rail })
    expect(readNonceOrCode(await unarmed.buy('next', payment, SILENT))).toBe('payment_credited')
  })

  test('if a reorganisation removes the payment of a credit, that credit is no longer owed, and the operator gets an alert; other credits stay', async () => {
    const { buyNextBlock, sold, chain, logger, db } = await openSeller()
    const credits = [createTestPayment(1, 1), createTestPayment(2, 2)] as const
    for (const payment of credits) {
      await db.payouts.recordCredit(
        { payment, target: 'next', listing: SILENT, head: HEAD },
        chain.transferPayment(payment),
        NOW,
      )
      expect(readNonceOrCode(await buyNextBlock(payment))).toBe('payment_credited')
    }
    const [vanished, paid] = credits
    chain.cancelAuthorization(vanished)
    for (const payment of credits) await sold.reconcile(payment)
    expect([await db.ledger.find(vanished), logger.alerts]).toMatchObject([{ state: { kind: 'credited' } }, []])

    for (const payment of credits) chain.expireAuthorization(payment)
    for (const payment of credits) await sold.reconcile(payment)
    expect(readNonceOrCode(await buyNextBlock(vanished))).toBe('payment_required')
    expect(readNonceOrCode(await buyNextBlock(paid))).toBe('payment_credited')
    expect(logger.alerts).toMatchObject([{ event: 'payment-lost', facts: { nonce: vanished.nonce } }])
  })
})
