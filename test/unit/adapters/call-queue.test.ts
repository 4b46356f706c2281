import { expect, test } from 'bun:test'
import { createCallQueue, QueueFull, type Urgency } from '../../../server/adapters/chain/call-queue.ts'
import { createLogWindow } from '../../../server/adapters/chain/log-window.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'

// Goal: the endpoint gets no more calls than its limits allow, and payers who may have paid come first. Method: calls
// that end when the test says so.

/** A queue, the names of the calls that have begun, and the functions that end these calls. */
function createQueue(limits: { atOnce?: number; waitingMax?: number; perSecond?: number }) {
  const clock = createFakeClock(0)
  const queue = createCallQueue({ atOnce: 1, waitingMax: 9, perSecond: undefined, ...limits }, clock)
  const begun: string[] = []
  const ends: (() => void)[] = []
  const startCall = (urgency: Urgency, name: string) =>
    queue(urgency, () => {
      begun.push(name)
      const { promise, resolve } = Promise.withResolvers<string>()
      ends.push(() => resolve(name))
      return promise
    })
  return { clock, queue, begun, ends, startCall }
}

test('calls about payments that may have been charged come first, and calls that nobody waits for come last', async () => {
  const { begun, ends, startCall } = createQueue({})
  const calls = [
    startCall('background', 'first'),
    startCall('background', 'sweep'),
    startCall('buyer', 'buyer'),
    startCall('settlement', 'settlement'),
    startCall('buyer', 'buyer 2'),
  ]
  for (const [at, one] of [0, 3, 2, 4, 1].entries()) {
    ends[at]?.()
    await calls[one]
  }
  expect(begun).toEqual(['first', 'settlement', 'buyer', 'buyer 2', 'sweep'])
})

test('if the queue of one urgency level is full, calls of that level are rejected, and calls of other levels are still accepted', async () => {
  const { ends, startCall } = createQueue({ waitingMax: 2 })
  const calls = [startCall('buyer', 'a'), startCall('buyer', 'b'), startCall('buyer', 'c')]
  await expect(startCall('buyer', 'd')).rejects.toBeInstanceOf(QueueFull)
  calls.push(startCall('settlement', 'e'))
  for (const [at, one] of [0, 3, 1, 2].entries()) {
    ends[at]?.()
    await calls[one]
  }
  expect(await Promise.all(calls)).toEqual(['a', 'b', 'c', 'e'])
})

test('within any second, no more calls start than the limit allows, and a turn that makes no call does not count', async () => {
  const { clock, queue } = createQueue({ atOnce: 9, perSecond: 3 })
  const begunAt: number[] = []
  const calls = Array.from({ length: 10 }, () =>
    queue('buyer', async () => {
      begunAt.push(clock.elapsed())
    }),
  )
  await Promise.all([...calls, queue('settlement', () => undefined)])
  expect(begunAt).toEqual([0, 0, 0, 1000, 1000, 1000, 2000, 2000, 2000, 3000])
})

test('the block range of a log query shrinks until the endpoint serves it, and grows again only after many successes', () => {
  const window = createLogWindow()
  while (window.chooseSize() > 10n) window.recordRefused(window.chooseSize())
  const learnt = window.chooseSize()
  expect(learnt).toBe(7n)
  const serveUntilItGrows = () => {
    let served = 0
    for (; window.chooseSize() === learnt; served++) window.recordServed(learnt)
    return served
  }
  for (const served of [16, 32, 64]) {
    expect([serveUntilItGrows(), window.chooseSize()]).toEqual([served, 14n])
    window.recordRefused(14n)
    expect(window.chooseSize()).toBe(7n)
  }
  // The result of a query that began before the window shrank changes nothing.
  window.recordRefused(500n)
  expect(window.chooseSize()).toBe(7n)
  window.recordServed(3n)
  for (let i = 0; i < 3; i++) window.recordRefused(window.chooseSize())
  expect(window.chooseSize()).toBe(0n)
  window.allowRetry()
  expect(window.chooseSize()).toBe(1n)
})
