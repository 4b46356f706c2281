import { expect, test } from 'bun:test'
import type { Payment } from '../../../server/domain/purchase/payment.ts'
import { guardChainFreshness } from '../../../server/health/chain-freshness.ts'
import { trackOutages } from '../../../server/health/outages.ts'
import { createPaymentHealth } from '../../../server/health/payment-health.ts'
import { openBlankWall } from '../../support/blank-wall.ts'
import { createFakeChain } from '../../support/fakes/chain.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeFacilitator } from '../../support/fakes/facilitator.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import { readNonceOrCode, createSellerWith } from '../../support/fakes/seller.ts'
import { toHash, NOW, createTestPayment, SILENT, TERMS } from '../../support/samples.ts'

// Goal: on a stalled chain, no buyer pays a dollar without getting a block. Method: the real seller and payment rail
// over a chain that stops, a facilitator that continues to send transactions, and a clock that the test moves.

/**
 * A wall on a chain whose block production can be paused; transactions sent during a pause settle once block production
 * resumes.
 */
async function openWall() {
  const db = await openBlankWall()
  const asked = createFakeChain()
  asked.stands = true
  const honest = createFakeFacilitator(asked)
  const time = createFakeClock(NOW)
  const clock = { ...time, wait: async () => {} }
  const logger = createFakeLogger()
  const outages = trackOutages({ clock, logger })
  const waiting: Payment[] = []
  let isHalted = false
  const facilitator: typeof honest = {
    ...honest,
    async settle(target, payment) {
      if (!isHalted) return await honest.settle(target, payment)
      if (!waiting.includes(payment)) waiting.push(payment)
      return { kind: 'unclear' }
    },
  }
  const mineBlock = () => asked.transferDirectly(TERMS.payTo, TERMS.asset, 1n)
  const readFault = async () => {
    const seen = await asked.readAuthorization(createTestPayment(99, 99))
    return seen === 'silent' ? ({ kind: 'silent' } as const) : ({ kind: 'none', head: seen.head } as const)
  }
  const chain = guardChainFreshness(
    { ...asked, checkHealth: readFault },
    { clock, report: (reason) => outages.recordState({ kind: 'chain', name: TERMS.network }, reason) },
  )
  const rail = createPaymentHealth({ facilitator, chain, clock, logger })
  await rail.probe()
  rail.markReconciled()
  const sold = createSellerWith({ ledger: db.ledger, facilitator, chain, clock, logger, rail })
  return {
    db,
    rail,
    logger,
    sold,
    taken: honest.verified,
    halt: () => void (isHalted = true),
    resume: () => {
      isHalted = false
      for (const payment of waiting) asked.transferPayment(payment)
      mineBlock()
    },
    /** Lets time pass, with a probe every 5 s; before each probe, the chain makes a block unless it is halted. */
    async passTime(seconds: number) {
      for (let second = 0; second < seconds; second += 5) {
        time.advance(5000)
        if (!isHalted) mineBlock()
        await rail.probe()
      }
    },
    buy: async (payment: Payment) => readNonceOrCode(await sold.buy('next', payment, SILENT)),
  }
}

test('the wall accepts no payments while the chain is stalled, and accepts them again once the chain moves', async () => {
  const { buy, db, rail, logger, sold, taken, halt, resume, passTime } = await openWall()
  await passTime(120)
  expect(await buy(createTestPayment(1, 1))).toBe(toHash(1))
  halt()
  const early = [createTestPayment(2, 2), createTestPayment(3, 3)]
  for (const payment of early) expect(await buy(payment)).toBe('settlement_unknown')
  await passTime(55)
  expect([rail.readState(), rail.readFault()]).toEqual(['armed', null])
  await passTime(5)
  expect([rail.readState(), rail.readFault()]).toEqual([
    'arming',
    expect.stringContaining('no block for more than a minute'),
  ])
  const before = taken.length
  for (const number of [4, 5, 6]) expect(await buy(createTestPayment(number, number))).toBe('facilitator_unavailable')
  expect(taken).toHaveLength(before)
  await passTime(60)
  for (const payment of early) expect(await buy(payment)).toBe('settlement_unknown')

  resume()
  await passTime(5)
  expect([rail.readState(), rail.readFault()]).toEqual(['armed', null])
  for (const key of await db.ledger.listUnfinished(NOW)) await sold.reconcile(key)
  for (const payment of early) expect(await buy(payment)).toBe(payment.nonce)
  expect(await buy(createTestPayment(4, 4))).toBe(toHash(4))
  expect(logger.alerts).toEqual([
    { event: 'outage', facts: expect.objectContaining({ dependency: 'chain', name: TERMS.network }) },
  ])
  expect(logger.notes.filter(({ event }) => event === 'outage-over')).toHaveLength(1)
  await db.close()
})
