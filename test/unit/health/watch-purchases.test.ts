import { beforeEach, expect, test } from 'bun:test'
import { failure, type FailureCode } from '../../../server/domain/failure.ts'
import type { Outcome } from '../../../server/domain/purchase/purchase.ts'
import { type Outages, trackOutages } from '../../../server/health/outages.ts'
import { watchPurchases, type PurchaseWatch } from '../../../server/health/watch-purchases.ts'
import { fakeClock, type FakeClock } from '../../support/fakes/clock.ts'
import { fakeLogger, type FakeLogger } from '../../support/fakes/logger.ts'
import { NOW, wallet } from '../../support/samples.ts'

let clock: FakeClock
let logger: FakeLogger
let outages: Outages
let purchases: PurchaseWatch
beforeEach(() => {
  clock = fakeClock(NOW)
  logger = fakeLogger()
  outages = trackOutages({ clock, logger })
  purchases = watchPurchases({ clock, outages })
})

// Successful purchases are ignored.
const BOUGHT = { kind: 'bought' } as Outcome
const refused = (code: FailureCode): Outcome => failure(code, 'x')

/** So many payers one after the other, each with this outcome. */
function end(payers: number, outcome: Outcome, from = 1) {
  for (let payer = from; payer < from + payers; payer++) purchases.ended(wallet(payer), outcome)
  purchases.check()
}

const reason = () => outages.all().find(({ kind }) => kind === 'purchases')?.reason

test('failed purchases of five payers without a fault of theirs are an outage with the most frequent code', () => {
  end(1, refused('settlement_unknown'))
  end(3, refused('facilitator_unavailable'), 2)
  expect(reason()).toBeNull()
  end(1, refused('facilitator_unavailable'), 5)
  expect(reason()).toBe('5 of 5 purchases in the last minute failed, most with facilitator_unavailable')
  expect(logger.alerts).toMatchObject([{ event: 'outage', facts: { dependency: 'purchases', name: 'buyers' } }])
})

test('a flood that fills our queues is not an outage of purchases', () => {
  end(50, refused('server_busy'))
  expect(reason()).toBeNull()
})

test('repeated failures of one payer, a fifth of failures, and failures by the buyer’s fault are not an outage', () => {
  for (let i = 0; i < 50; i++) end(1, refused('settlement_unknown'))
  expect(reason()).toBeNull()
  end(300, BOUGHT)
  end(10, refused('database_unavailable'))
  end(100, refused('payment_required'))
  end(100, refused('block_taken'))
  expect(reason()).toBeNull()
})

test('the outage is over once no purchase has failed for 8 s, and its failures do not start another one', () => {
  end(5, refused('facilitator_unavailable'))
  clock.pass(7999)
  purchases.check()
  expect(reason()).not.toBeNull()
  end(2, BOUGHT)
  clock.pass(1)
  purchases.check()
  expect(reason()).toBeNull()
  end(4, refused('facilitator_unavailable'))
  expect(reason()).toBeNull()
  end(1, refused('facilitator_unavailable'), 5)
  expect(reason()).not.toBeNull()
})

test('failures older than a minute do not count', () => {
  end(4, refused('facilitator_unavailable'))
  clock.pass(60_000)
  end(4, refused('facilitator_unavailable'), 5)
  expect(reason()).toBeNull()
})
