import { beforeEach, expect, test } from 'bun:test'
import { createFailure, type FailureCode } from '../../../server/domain/failure.ts'
import type { Outcome } from '../../../server/domain/purchase/purchase.ts'
import { type Outages, trackOutages } from '../../../server/health/outages.ts'
import { watchPurchases, type PurchaseWatch } from '../../../server/health/watch-purchases.ts'
import { createFakeClock, type FakeClock } from '../../support/fakes/clock.ts'
import { createFakeLogger, type FakeLogger } from '../../support/fakes/logger.ts'
import { NOW, createWalletAddress } from '../../support/samples.ts'

let clock: FakeClock
let logger: FakeLogger
let outages: Outages
let purchases: PurchaseWatch
beforeEach(() => {
  clock = createFakeClock(NOW)
  logger = createFakeLogger()
  outages = trackOutages({ clock, logger })
  purchases = watchPurchases({ clock, outages })
})

// The watch does not read any details of a successful purchase.
const BOUGHT = { kind: 'bought' } as Outcome
const createRefusal = (code: FailureCode): Outcome => createFailure(code, 'x')

/** Records one purchase with this outcome for each of this many payers, and then runs the check. */
function endPurchases(payers: number, outcome: Outcome, from = 1) {
  for (let payer = from; payer < from + payers; payer++) purchases.recordOutcome(createWalletAddress(payer), outcome)
  purchases.check()
}

const readReason = () => outages.listAll().find(({ kind }) => kind === 'purchases')?.reason

test('if purchases of five payers fail through no fault of theirs, an outage with the most frequent code is reported', () => {
  endPurchases(1, createRefusal('settlement_unknown'))
  endPurchases(3, createRefusal('facilitator_unavailable'), 2)
  expect(readReason()).toBeNull()
  endPurchases(1, createRefusal('facilitator_unavailable'), 5)
  expect(readReason()).toBe('5 of 5 purchases in the last minute failed, most with facilitator_unavailable')
  expect(logger.alerts).toMatchObject([{ event: 'outage', facts: { dependency: 'purchases', name: 'buyers' } }])
})

test('purchases that fail because the queues of the wall are full are not an outage of purchases', () => {
  endPurchases(50, createRefusal('server_busy'))
  expect(readReason()).toBeNull()
})

test('repeated failures of one payer, a share of failures below a fifth, and failures that are the buyer’s fault are not an outage', () => {
  for (let i = 0; i < 50; i++) endPurchases(1, createRefusal('settlement_unknown'))
  expect(readReason()).toBeNull()
  endPurchases(300, BOUGHT)
  endPurchases(10, createRefusal('database_unavailable'))
  endPurchases(100, createRefusal('payment_required'))
  endPurchases(100, createRefusal('block_taken'))
  expect(readReason()).toBeNull()
})

test('an outage of purchases is over once no purchase has failed for 8 s, and its failures do not count towards the next outage', () => {
  endPurchases(5, createRefusal('facilitator_unavailable'))
  clock.advance(7999)
  purchases.check()
  expect(readReason()).not.toBeNull()
  endPurchases(2, BOUGHT)
  clock.advance(1)
  purchases.check()
  expect(readReason()).toBeNull()
  endPurchases(4, createRefusal('facilitator_unavailable'))
  expect(readReason()).toBeNull()
  endPurchases(1, createRefusal('facilitator_unavailable'), 5)
  expect(readReason()).not.toBeNull()
})

test('purchase failures that are older than a minute do not count towards an outage', () => {
  endPurchases(4, createRefusal('facilitator_unavailable'))
  clock.advance(60_000)
  endPurchases(4, createRefusal('facilitator_unavailable'), 5)
  expect(readReason()).toBeNull()
})
