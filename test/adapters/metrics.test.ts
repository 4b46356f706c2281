import { expect, test } from 'bun:test'
import { openMetrics } from '../../server/adapters/metrics.ts'
import { StoreUnavailable } from '../../server/domain/failure.ts'
import { facilitatorUnavailable } from '../../server/domain/refusals.ts'
import type { Books } from '../../server/ports.ts'
import { fakeChain } from '../fakes/chain.ts'
import { fakeClock } from '../fakes/clock.ts'
import { fakeFacilitator } from '../fakes/facilitator.ts'
import { NOW, paymentOf, TERMS } from '../ports/samples.ts'

test('calls are counted by what came of them, failures too, and answered as they were', async () => {
  const metrics = openMetrics()
  const chain = fakeChain()
  const facilitator = fakeFacilitator(chain)
  const [counted, timed] = [metrics.facilitator(facilitator), metrics.chain(chain)]
  const payment = paymentOf(1, 1)
  expect(await counted.verify('next', payment)).toEqual({ kind: 'valid' })
  facilitator.verification = { kind: 'unavailable' }
  await counted.verify('next', payment)
  chain.silent = true
  await timed.read(payment)
  await timed.transfersTo(TERMS.payTo, 0n)
  const broken = metrics.chain({ ...chain, fault: () => Promise.reject(new Error('x')) })
  await expect(broken.fault()).rejects.toThrow('x')
  metrics.outcome({ kind: 'refused', failure: facilitatorUnavailable('Gone') })
  metrics.paid(1)
  const text = await metrics.read()
  for (const line of [
    'wall_paid_requests_total{version="1"} 1',
    'wall_paid_requests_total{version="2"} 0',
    'wall_facilitator_seconds_count{facilitator="facilitator.example",call="verify",result="valid"} 1',
    'wall_facilitator_seconds_count{facilitator="facilitator.example",call="verify",result="unavailable"} 1',
    'wall_chain_seconds_count{call="read",result="silent"} 1',
    'wall_chain_seconds_count{call="transfers",result="silent"} 1',
    'wall_chain_seconds_count{call="fault",result="failed"} 1',
    'wall_purchases_total{outcome="facilitator_unavailable"} 1',
  ])
    expect(text).toContain(`${line}\n`)
})

test('what is open is told with the age of the oldest, and a store that fails leaves only that out', async () => {
  const metrics = openMetrics()
  const clock = fakeClock(NOW)
  let failing = false
  const books: Books = {
    held: () => Promise.reject(new Error('not asked')),
    ofPayer: () => Promise.reject(new Error('not asked')),
    pending: async () => {
      if (failing) throw new StoreUnavailable('closed')
      return { held: 3, uncertain: 1, watched: 2, oldestSince: NOW - 5000 }
    },
  }
  metrics.watch({ books, rail: () => 'arming', clock })
  const text = await metrics.read()
  for (const line of [
    'wall_open_purchases{state="held"} 3',
    'wall_open_purchases{state="doubted"} 1',
    'wall_open_purchases{state="watched"} 2',
    'wall_oldest_open_purchase_seconds 5',
    'wall_rail{state="armed"} 0',
    'wall_rail{state="arming"} 1',
  ])
    expect(text).toContain(`${line}\n`)
  failing = true
  const without = await metrics.read()
  expect(without).not.toMatch(/^wall_open_purchases\{/m)
  expect(without).toMatch(/^wall_oldest_open_purchase_seconds nan$/im)
  expect(without).toContain('wall_rail{state="arming"} 1\n')
})
