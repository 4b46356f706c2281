import { expect, test } from 'bun:test'
import { listSalesStoppers } from '../../../server/domain/dependency.ts'
import { trackOutages } from '../../../server/health/outages.ts'
import { watchQueue } from '../../../server/health/watch-queue.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import { NOW } from '../../support/samples.ts'

// Goal: an operator learns that clients wait, although the health check responds immediately.

function createWatch() {
  const clock = createFakeClock(NOW)
  const logger = createFakeLogger()
  const outages = trackOutages({ clock, logger })
  const queue = watchQueue({ clock, outages }, ['payments', 'requests'] as const)
  const recordWaits = (of: 'payments' | 'requests', count: number, ms: number) => {
    for (let at = 0; at < count; at++) queue.recordWait(of, ms)
  }
  const findDependency = (name: string) => outages.listAll().find((dependency) => dependency.name === name)
  return { clock, logger, outages, queue, waitMany: recordWaits, stateOf: findDependency }
}

test('if a fifth of the requests of a class wait for longer than a second, the class is reported as an outage', () => {
  const { queue, waitMany, stateOf, logger } = createWatch()
  waitMany('requests', 40, 5)
  waitMany('requests', 10, 1500)
  waitMany('payments', 50, 5)
  queue.check()
  expect(stateOf('requests')).toMatchObject({
    kind: 'queue',
    state: 'down',
    reason: '10 of 50 requests in the last 10 s waited longer than 1 s for their turn',
  })
  expect(stateOf('payments')).toMatchObject({ kind: 'queue', state: 'up', reason: null })
  expect(logger.alerts).toMatchObject([{ event: 'outage', facts: { dependency: 'queue', name: 'requests' } }])
})

test('a few long waits among many short ones are not an outage', () => {
  const { queue, waitMany, stateOf } = createWatch()
  waitMany('requests', 400, 5)
  waitMany('requests', 10, 1500)
  queue.check()
  expect(stateOf('requests')).toMatchObject({ state: 'up' })
})

test('the outage of a request class ends eight seconds after its last long wait', async () => {
  const { clock, queue, waitMany, stateOf } = createWatch()
  waitMany('payments', 10, 1500)
  queue.check()
  clock.advance(7000)
  waitMany('payments', 100, 5)
  queue.check()
  expect(stateOf('payments')).toMatchObject({ state: 'down' })
  clock.advance(1000)
  queue.check()
  expect(stateOf('payments')).toMatchObject({ state: 'up' })
})

test('while the requests of a class wait too long, sales continue, because a flood must not take every process out of a load balancer', () => {
  const { queue, waitMany, outages } = createWatch()
  waitMany('requests', 10, 1500)
  queue.check()
  expect(listSalesStoppers(outages.listAll())).toEqual([])
})
