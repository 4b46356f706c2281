import { describe, expect, test } from 'bun:test'
import { singleProcess } from '../../../db/sqlite/coordination.ts'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import { toPaymentKey, type PaymentKey } from '../../../server/domain/purchase/payment.ts'
import type { ExclusiveJobs } from '../../../server/ports.ts'
import { createReconciler } from '../../../server/purchase/reconciler.ts'
import { openBlankWall } from '../../support/blank-wall.ts'
import { reserveTarget } from '../../support/engine.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import { NOW, createTestPayment } from '../../support/samples.ts'

/** A reconciler for a wall with two open purchases; another process holds the leases of those in `taken`. */
async function openWorld(jobs: ExclusiveJobs = singleProcess.jobs) {
  const { ledger } = await openBlankWall()
  for (const nonce of [1, 2]) await reserveTarget({ ledger }, 'next', createTestPayment(1, nonce))
  const taken = new Set<string>()
  const looked: string[] = []
  const store = { isBusy: false }
  const seller = {
    async reconcile(key: PaymentKey) {
      if (store.isBusy) throw new StoreUnavailable('busy')
      if (taken.has(toPaymentKey(key))) return false
      looked.push(toPaymentKey(key))
      return true
    },
  }
  const logger = createFakeLogger()
  const sweep = createReconciler({ ledger, seller, jobs, clock: createFakeClock(NOW), logger })
  return { sweep, taken, looked, store, logger, ledger }
}

const [first, second] = [toPaymentKey(createTestPayment(1, 1)), toPaymentKey(createTestPayment(1, 2))]

describe('purchases open at the start', () => {
  test('purchases open at the start count as checked only after a whole sweep, however many sweeps failed', async () => {
    const { sweep, looked, store } = await openWorld()
    store.isBusy = true
    for (let failed = 0; failed < 20; failed += 1) expect(await sweep()).toBe('failed')
    store.isBusy = false
    expect(await sweep()).toBe('seen')
    expect(looked).toEqual([first, second])
  })

  test('purchases open at the start do not all count as checked while another process holds the lease of one, because that process may have died', async () => {
    const { sweep, taken } = await openWorld()
    taken.add(first)
    expect([await sweep(), await sweep()]).toEqual(['partly', 'partly'])
    taken.clear()
    expect(await sweep()).toBe('seen')
  })

  test('purchases open at the start stay checked, even if other processes hold their leases later', async () => {
    const { sweep, taken } = await openWorld()
    taken.add(first)
    await sweep()
    taken.clear()
    taken.add(second)
    expect(await sweep()).toBe('seen')
    taken.add(first)
    expect(await sweep()).toBe('seen')
  })

  test('purchases open at the start are not checked by a process that has never been allowed to sweep', async () => {
    const job = { isOurs: false }
    const { sweep, looked } = await openWorld({
      async run(_, work) {
        if (job.isOurs) await work()
        return job.isOurs
      },
    })
    expect([await sweep(), looked]).toEqual(['partly', []])
    job.isOurs = true
    expect(await sweep()).toBe('seen')
    job.isOurs = false
    expect(await sweep()).toBe('seen')
  })
})

test('an outage of the store is reported once, and is reported again only after a sweep has succeeded', async () => {
  const { sweep, store, logger } = await openWorld()
  const listNotes = () => logger.notes.map(({ event }) => event)
  store.isBusy = true
  expect([await sweep(), await sweep()]).toEqual(['failed', 'failed'])
  expect(listNotes()).toEqual(['sweep-failed'])
  store.isBusy = false
  await sweep()
  store.isBusy = true
  await sweep()
  expect(listNotes()).toEqual(['sweep-failed', 'sweep-failed'])
})
