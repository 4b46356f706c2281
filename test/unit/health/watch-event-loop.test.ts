import { expect, test } from 'bun:test'
import { trackOutages } from '../../../server/health/outages.ts'
import { watchEventLoop } from '../../../server/health/watch-process.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import { NOW } from '../../support/samples.ts'

/** A watch over an event loop whose turns are as late as the test says, in milliseconds. */
function openWorld() {
  const [clock, logger] = [createFakeClock(NOW), createFakeLogger()]
  let lateMs = 0
  const wait = async (ms: number) => clock.advance(ms + lateMs)
  const eventLoop = watchEventLoop({ ...clock, wait })
  const outages = trackOutages({ clock, logger, isLate: eventLoop.isLate })
  const runTurns = async (count: number, late: number) => {
    lateMs = late
    for (let i = 0; i < count; i++) await eventLoop.watch(outages)
  }
  const readReason = () => outages.listAll().find(({ kind }) => kind === 'event-loop')?.reason ?? null
  return { clock, logger, outages, eventLoop, runTurns, readReason }
}

test('a process whose event loop stays late for 4 s is reported as late, and as on time again 4 s after it recovers', async () => {
  const { runTurns, readReason, logger } = openWorld()
  await runTurns(5, 0)
  await runTurns(10, 300)
  expect(readReason()).toBeNull()
  await runTurns(10, 300)
  expect(readReason()).toMatch(/^the wall is too slow/)
  await runTurns(33, 0)
  expect(readReason()).toBeNull()
  expect([logger.alerts.length, logger.notes.length]).toEqual([1, 1])
})

test('a pause of the machine is not an outage, and a failure that is seen during the pause is not reported as an outage', async () => {
  const { clock, runTurns, readReason, eventLoop, outages } = openWorld()
  const STORE = { kind: 'store-read', name: 'sqlite' } as const
  await runTurns(5, 0)
  await runTurns(1, 2000)
  expect([eventLoop.isLate(), readReason()]).toEqual([true, null])
  outages.recordState(STORE, 'the database did not respond in time')
  expect(outages.listAll()).toMatchObject([{ kind: 'event-loop', state: 'up' }])
  await runTurns(20, 0)
  expect([eventLoop.isLate(), readReason()]).toEqual([false, null])
  outages.recordState(STORE, 'the database did not respond in time')
  expect(outages.listAll().at(-1)).toMatchObject({ kind: 'store-read', state: 'down' })
  // A turn that has not come yet also counts as late once it is overdue.
  const late = eventLoop.watch(outages)
  expect(eventLoop.isLate()).toBe(false)
  clock.advance(1700)
  expect(eventLoop.isLate()).toBe(true)
  await late
})

test('turns of the event loop that are only 150 ms late are not reported', async () => {
  const { runTurns, readReason, eventLoop } = openWorld()
  await runTurns(50, 150)
  expect([eventLoop.isLate(), readReason()]).toEqual([false, null])
})
