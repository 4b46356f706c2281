import { drainMicrotasks } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import type { SettleResult, VerifyResult } from '../../../server/domain/purchase/facilitator-errors.ts'
import type { Payment } from '../../../server/domain/purchase/payment.ts'
import type { Outcome } from '../../../server/domain/purchase/purchase.ts'
import type { Clock, Leases, Ledger } from '../../../server/ports.ts'
import { createBlockReceipt } from '../../../server/x402/receipt.ts'
import { openBlankWall } from '../../support/blank-wall.ts'
import { createFakeChain } from '../../support/fakes/chain.ts'
import { createFakeFacilitator } from '../../support/fakes/facilitator.ts'
import { createFakeLeases } from '../../support/fakes/leases.ts'
import { readNonceOrCode, createSellerWith } from '../../support/fakes/seller.ts'
import { toHash, NOW, createTestPayment, SILENT } from '../../support/samples.ts'
import { createScheduler } from '../../support/scheduler.ts'

// Goal: payers get correct responses from two processes on one store. Method: two sellers over one ledger, with time
// moved by hand, and a facilitator that responds when the test lets it.

async function openWorld() {
  const { ledger } = await openBlankWall()
  const scheduler = createScheduler()
  const leases = createFakeLeases(scheduler.getElapsed)
  const chain = createFakeChain()
  const honest = createFakeFacilitator(chain)

  const openSeller = () => {
    const process = {}
    const gate = {
      canLease: true,
      canMark: true,
      atRelease: undefined as (() => Promise<unknown>) | undefined,
      settling: undefined as Promise<SettleResult> | undefined,
      reading: undefined as Promise<void> | undefined,
      verifying: undefined as Promise<VerifyResult> | undefined,
    }
    const clock: Clock = {
      now: () => NOW + scheduler.getElapsed(),
      elapsed: scheduler.getElapsed,
      wait: (ms, signal) => scheduler.wait(process, ms, signal),
    }
    const markUncertain: Ledger['markUncertain'] = (held) =>
      gate.canMark ? ledger.markUncertain(held) : Promise.reject(new StoreUnavailable('down'))
    const release: Ledger['release'] = async (purchase, isFinal) => {
      await ledger.release(purchase, isFinal)
      await gate.atRelease?.()
    }
    const own = leases.createLeases(process)
    const take: Leases['take'] = (key, forMs) =>
      gate.canLease ? own.take(key, forMs) : Promise.reject(new StoreUnavailable('down'))
    const sold = createSellerWith({
      ledger: { ...ledger, markUncertain, release },
      facilitator: {
        ...honest,
        verify: (...asked) => gate.verifying ?? honest.verify(...asked),
        settle: (...asked) => gate.settling ?? honest.settle(...asked),
      },
      chain: { ...chain, readAuthorization: async (key) => (await gate.reading, await chain.readAuthorization(key)) },
      clock,
      leases: { ...own, take },
    })
    const startPurchase = (payment: Payment) => {
      const outcome = sold.buy('next', payment, SILENT)
      drainMicrotasks()
      return outcome
    }
    // After this call, the runs of the process never continue, and its leases expire.
    const killProcess = () => scheduler.dropCalls(process)
    return { startPurchase, gate, killProcess }
  }
  /** Lets this many seconds pass, and runs everything that becomes due. */
  const passTime = (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      scheduler.advance(1000)
      drainMicrotasks()
    }
  }
  const { verified, settled } = honest
  return {
    ledger,
    chain,
    leases,
    verified,
    settled,
    here: openSeller(),
    there: openSeller(),
    open: openSeller,
    passTime,
  }
}

test('a process that cannot write a lease sends no new payment to a facilitator', async () => {
  const { here, there, verified, passTime } = await openWorld()
  passTime(120)
  const payment = createTestPayment(1, 1, { validBefore: BigInt(NOW / 1000 + 420) })
  here.gate.canLease = false
  const unleased = here.startPurchase(payment)
  passTime(10)
  expect([readNonceOrCode(await unleased), verified]).toEqual(['server_busy', []])
  // No facilitator has the payment, so another process, which does not know the payment, may report it as uncharged.
  const refused = there.startPurchase({ ...payment, accepted: { ...payment.accepted, amount: 1n } })
  passTime(10)
  expect(await refused).toMatchObject({ code: 'payment_required', details: { charged: 'no' } })
})

test('a payment that another process may have sent to a facilitator is not reported as uncharged', async () => {
  const { here, there, passTime, ledger } = await openWorld()
  passTime(120)
  const payment = createTestPayment(1, 1, { validBefore: BigInt(NOW / 1000 + 420) })
  here.gate.verifying = Promise.resolve({ kind: 'unavailable' })
  const failed = here.startPurchase(payment)
  passTime(10)
  expect(await failed).toMatchObject({ code: 'facilitator_unavailable' })
  const again = there.startPurchase({ ...payment, accepted: { ...payment.accepted, amount: 1n } })
  passTime(10)
  expect(await again).toMatchObject({ code: 'payment_required', details: { charged: 'unknown' } })
  expect(await ledger.find(payment)).toBeUndefined()
  const other = there.startPurchase(createTestPayment(2, 2, { validBefore: payment.validBefore, amount: 1n }))
  passTime(10)
  expect(await other).toMatchObject({ code: 'payment_required', details: { charged: 'no' } })
})

test('a process that cannot take a lease does not report a payment as uncharged if another process may have sent the payment', async () => {
  const { here, there, passTime } = await openWorld()
  passTime(120)
  const payment = createTestPayment(1, 1, { validBefore: BigInt(NOW / 1000 + 420) })
  here.gate.verifying = Promise.resolve({ kind: 'unavailable' })
  const failed = here.startPurchase(payment)
  passTime(10)
  expect(await failed).toMatchObject({ code: 'facilitator_unavailable' })
  there.gate.canLease = false
  const again = there.startPurchase({ ...payment, accepted: { ...payment.accepted, amount: 1n } })
  passTime(10)
  expect(await again).toMatchObject({ code: 'payment_required', details: { charged: 'unknown' } })
})

test('a process that loses its lease does not report a payment as uncharged if another process may have sent the payment in the meantime', async () => {
  const { here, there, leases, passTime } = await openWorld()
  passTime(120)
  const payment = createTestPayment(1, 1, { validBefore: BigInt(NOW / 1000 + 420) })
  const { promise: reading, resolve: letGo } = Promise.withResolvers<void>()
  here.gate.reading = reading
  const refused = here.startPurchase({ ...payment, accepted: { ...payment.accepted, amount: 1n } })
  leases.endLease(payment)
  there.gate.verifying = Promise.resolve({ kind: 'unavailable' })
  const failed = there.startPurchase(payment)
  passTime(10)
  expect(await failed).toMatchObject({ code: 'facilitator_unavailable' })
  letGo()
  passTime(10)
  expect(await refused).toMatchObject({ code: 'payment_required', details: { charged: 'unknown' } })
})

test('a process that lost its lease asks the payer to wait while another process works on the payment', async () => {
  const { here, there, leases, passTime } = await openWorld()
  passTime(120)
  const payment = createTestPayment(1, 1, { validBefore: BigInt(NOW / 1000 + 420) })
  const [reading, verifying] = [Promise.withResolvers<void>(), Promise.withResolvers<VerifyResult>()]
  here.gate.reading = reading.promise
  const refused = here.startPurchase({ ...payment, accepted: { ...payment.accepted, amount: 1n } })
  leases.endLease(payment)
  there.gate.verifying = verifying.promise
  const bought = there.startPurchase(payment)
  reading.resolve()
  drainMicrotasks()
  expect(await refused).toMatchObject({ code: 'settlement_unknown', details: { charged: 'unknown' } })
  verifying.resolve({ kind: 'valid' })
  passTime(10)
  expect(readNonceOrCode(await bought)).toBe(toHash(1))
})

test('a payment that can no longer settle is reported as uncharged, even if another process still works on it', async () => {
  const { here, there, ledger, chain, passTime } = await openWorld()
  const payment = createTestPayment(1, 1)
  here.gate.settling = new Promise(() => {})
  const held = here.startPurchase(payment)
  passTime(10)
  chain.expireAuthorization(payment)
  const purchase = await ledger.find(payment)
  if (purchase === undefined) throw new Error('the purchase is not stored')
  await ledger.release(purchase, true)
  const again = there.startPurchase(payment)
  passTime(70)
  expect(await again).toMatchObject({ code: 'payment_required', details: { charged: 'no' } })
  expect(await Promise.race([held, 'still settling'])).toBe('still settling')
})

test('a process remembers that it lost a lease, even if the response to the current request did not depend on the lease', async () => {
  const { here, there, chain, leases, passTime } = await openWorld()
  passTime(120)
  const payment = createTestPayment(1, 1, { validBefore: BigInt(NOW / 1000 + 420) })
  const { promise: reading, resolve: letGo } = Promise.withResolvers<void>()
  here.gate.reading = reading
  const waiting = here.startPurchase(payment)
  leases.endLease(payment)
  there.gate.verifying = Promise.resolve({ kind: 'unavailable' })
  const failed = there.startPurchase(payment)
  passTime(10)
  expect(await failed).toMatchObject({ code: 'facilitator_unavailable' })
  chain.silent = true
  letGo()
  passTime(10)
  expect(await waiting).toMatchObject({ code: 'facilitator_unavailable', details: { charged: 'unknown' } })
  chain.silent = false
  const refused = here.startPurchase({ ...payment, accepted: { ...payment.accepted, amount: 1n } })
  passTime(10)
  expect(await refused).toMatchObject({ code: 'payment_required', details: { charged: 'unknown' } })
})

test('a payment that another process has just sent is not reported as uncharged, however long ago this process first saw it', async () => {
  const { here, there, passTime } = await openWorld()
  passTime(120)
  const payment = createTestPayment(1, 1, { validBefore: BigInt(NOW / 1000 + 3000) })
  const wrong = { ...payment, accepted: { ...payment.accepted, amount: 1n } }
  const buyAt = async (seller: typeof here, asked: Payment) => {
    const outcome = seller.startPurchase(asked)
    passTime(10)
    return await outcome
  }
  await buyAt(here, wrong)
  await buyAt(there, wrong)
  passTime(2500)
  here.gate.verifying = Promise.resolve({ kind: 'unavailable' })
  expect(await buyAt(here, payment)).toMatchObject({ code: 'facilitator_unavailable' })
  expect(await buyAt(there, wrong)).toMatchObject({ code: 'payment_required', details: { charged: 'unknown' } })
})

const readReceipt = (outcome: Outcome) =>
  outcome.kind === 'bought'
    ? createBlockReceipt({ purchase: outcome.purchase, sales: [], baseUrl: 'https://wall.example' })
    : outcome

const never = new Promise<never>(() => {})

test('one signed payment that is sent to two processes is charged once, and both processes return the same receipt', async () => {
  const { here, there, settled, passTime } = await openWorld()
  const settling = Promise.withResolvers<SettleResult>()
  here.gate.settling = settling.promise
  const [one, other] = [here.startPurchase(createTestPayment(1, 1)), there.startPurchase(createTestPayment(1, 1))]
  passTime(10)
  expect(settled).toEqual([])
  here.gate.settling = undefined
  settling.resolve({ kind: 'unclear' })
  passTime(10)
  expect(readNonceOrCode(await one)).toBe('settlement_unknown')
  const receipt = readReceipt(await other)
  expect(receipt).toMatchObject({ deed: { tx: toHash(1) } })
  expect(readReceipt(await here.startPurchase(createTestPayment(1, 1)))).toEqual(receipt)
  expect(settled).toHaveLength(1)
})

test('if a process dies during a purchase, the payer can sign a new payment, gets the receipt from another process, and is charged once', async () => {
  const { here, there, settled, passTime } = await openWorld()
  here.gate.settling = never
  const { nonce } = createTestPayment(1, 1)
  void here.startPurchase(createTestPayment(1, 1))
  here.killProcess()
  const later = there.startPurchase(createTestPayment(1, 2))
  passTime(3)
  expect(settled).toEqual([])
  passTime(20)
  expect([readNonceOrCode(await later), settled.map((payment) => payment.nonce)]).toEqual([nonce, [nonce]])
})

test('if two processes return the same receipt for two later payments at the same time, neither payment is charged', async () => {
  const { here, there, open, settled, ledger, passTime } = await openWorld()
  here.gate.settling = never
  void here.startPurchase(createTestPayment(1, 1))
  here.killProcess()
  passTime(20)
  const third = open()
  const buyBoth = async () => {
    const both = [there.startPurchase(createTestPayment(1, 2)), third.startPurchase(createTestPayment(1, 3))]
    passTime(20)
    return await Promise.all(both.map(async (one) => readNonceOrCode(await one)))
  }
  expect(await buyBoth()).toEqual([toHash(1), toHash(1)])
  expect(await ledger.find(createTestPayment(1, 1))).toMatchObject({ state: { unanswered: false } })
  expect(await buyBoth()).toEqual([toHash(1), toHash(1)])
  expect(settled.map(({ nonce }) => nonce)).toEqual([toHash(1)])
})

test('a payment that is signed again with a longer validity waits for the process that settles its first version, and then buys a block', async () => {
  const { here, there, settled, passTime } = await openWorld()
  const settling = Promise.withResolvers<SettleResult>()
  here.gate.settling = settling.promise
  const first = createTestPayment(1, 1)
  void here.startPurchase(first)
  const later = there.startPurchase({ ...first, validBefore: first.validBefore + 60n, signature: '0x02' })
  passTime(5)
  settling.resolve({ kind: 'refused', reason: 'invalid_exact_evm_insufficient_balance' })
  passTime(10)
  expect([readNonceOrCode(await later), settled.length]).toEqual([toHash(1), 1])
})

test('if one payer buys in two processes in parallel, the later purchase waits for the earlier one, and each gets its own result', async () => {
  const { here, there, settled, passTime } = await openWorld()
  const settling = Promise.withResolvers<SettleResult>()
  here.gate.settling = settling.promise
  const one = here.startPurchase(createTestPayment(1, 1))
  const other = there.startPurchase(createTestPayment(1, 2))
  passTime(5)
  here.gate.settling = undefined
  settling.resolve({ kind: 'refused', reason: 'invalid_exact_evm_insufficient_balance' })
  passTime(10)
  expect([readNonceOrCode(await one), readNonceOrCode(await other)]).toEqual(['payment_required', toHash(2)])
  expect(settled).toHaveLength(1)
})

test('if another process has sent the payment in the meantime, a late rejection neither releases the block nor is returned to the client', async () => {
  const { ledger, leases, chain, here, there, passTime } = await openWorld()
  const refusing = Promise.withResolvers<SettleResult>()
  here.gate.settling = refusing.promise
  const slow = here.startPurchase(createTestPayment(1, 1))
  leases.endLease(createTestPayment(1, 1))
  there.gate.settling = Promise.resolve({ kind: 'unclear' })
  const quick = there.startPurchase(createTestPayment(1, 1))
  passTime(5)
  expect(readNonceOrCode(await quick)).toBe('settlement_unknown')
  refusing.resolve({ kind: 'refused', reason: 'invalid_exact_evm_insufficient_balance' })
  drainMicrotasks()
  expect(await ledger.find(createTestPayment(1, 1))).toMatchObject({
    state: { kind: 'reserved', uncertain: true, attempt: 1 },
  })
  chain.transferPayment(createTestPayment(1, 1))
  passTime(10)
  expect(readNonceOrCode(await slow)).toBe(toHash(1))
})

test('a run that released its block returns the sale that another process made in the meantime', async () => {
  const { here, there, leases, settled, passTime } = await openWorld()
  here.gate.settling = Promise.resolve({ kind: 'unsent' })
  here.gate.atRelease = async () => {
    leases.endLease(createTestPayment(1, 1))
    expect(readNonceOrCode(await there.startPurchase(createTestPayment(1, 1)))).toBe(toHash(1))
  }
  const buying = here.startPurchase(createTestPayment(1, 1))
  passTime(10)
  expect(readNonceOrCode(await buying)).toBe(toHash(1))
  expect(settled).toHaveLength(1)
})

test('a process does not settle a held block again before it has marked the purchase as uncertain in the database', async () => {
  const { ledger, leases, settled, here, there, passTime } = await openWorld()
  const refusing = Promise.withResolvers<SettleResult>()
  here.gate.settling = refusing.promise
  const slow = here.startPurchase(createTestPayment(1, 1))
  leases.endLease(createTestPayment(1, 1))
  there.gate.canMark = false
  const quick = there.startPurchase(createTestPayment(1, 1))
  passTime(5)
  expect([readNonceOrCode(await quick), settled]).toEqual(['database_unavailable', []])
  refusing.resolve({ kind: 'refused', reason: 'invalid_exact_evm_insufficient_balance' })
  passTime(2)
  expect(readNonceOrCode(await slow)).toBe('payment_required')
  expect(await ledger.find(createTestPayment(1, 1))).toMatchObject({ state: { kind: 'released' } })
})

test('if another process has continued a purchase in the meantime, a failed verification does not reject the purchase', async () => {
  const { leases, here, there, settled, passTime } = await openWorld()
  const verifying = Promise.withResolvers<VerifyResult>()
  here.gate.verifying = verifying.promise
  const slow = here.startPurchase(createTestPayment(1, 1))
  leases.endLease(createTestPayment(1, 1))
  const quick = there.startPurchase(createTestPayment(1, 1))
  passTime(1)
  verifying.resolve({ kind: 'unavailable' })
  passTime(1)
  expect([readNonceOrCode(await quick), readNonceOrCode(await slow)]).toEqual([toHash(1), toHash(1)])
  expect(settled).toHaveLength(1)
})

test('a payer that waits too long for another process is asked to retry, and its held purchase is marked as uncertain', async () => {
  const { ledger, here, there, passTime } = await openWorld()
  here.gate.settling = never
  void here.startPurchase(createTestPayment(1, 1))
  const waiting = there.startPurchase(createTestPayment(1, 1))
  passTime(62)
  expect(readNonceOrCode(await waiting)).toBe('settlement_unknown')
  expect(await ledger.find(createTestPayment(1, 1))).toMatchObject({
    state: { kind: 'reserved', uncertain: true, attempt: 1 },
  })
})

test('a payer is asked to retry only after its purchase is marked as uncertain in the database, and then cannot buy anything new', async () => {
  const { ledger, here, there, passTime } = await openWorld()
  here.gate.settling = never
  void here.startPurchase(createTestPayment(1, 1))
  there.gate.canMark = false
  const unheard = there.startPurchase(createTestPayment(1, 1))
  passTime(62)
  expect(readNonceOrCode(await unheard)).toBe('database_unavailable')
  there.gate.canMark = true
  const heard = there.startPurchase(createTestPayment(1, 1))
  passTime(62)
  expect(readNonceOrCode(await heard)).toBe('settlement_unknown')
  void here.startPurchase(createTestPayment(1, 2))
  passTime(5)
  expect(await ledger.find(createTestPayment(1, 2))).toBeUndefined()
})
