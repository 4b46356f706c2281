import { beforeEach, expect, test } from 'bun:test'
import { listSalesStoppers } from '../../../server/domain/dependency.ts'
import { type Outages, createReadiness, trackOutages } from '../../../server/health/outages.ts'
import { CLOCK_OFF_MAX, createClockCheck } from '../../../server/health/watch-process.ts'
import { createFakeClock, type FakeClock } from '../../support/fakes/clock.ts'
import { createFakeLogger, type FakeLogger } from '../../support/fakes/logger.ts'
import { armedRail } from '../../support/fakes/rail.ts'
import { NOW } from '../../support/samples.ts'

let clock: FakeClock
let logger: FakeLogger
let outages: Outages
beforeEach(() => {
  clock = createFakeClock(NOW)
  logger = createFakeLogger()
  outages = trackOutages({ clock, logger })
})

const ONE = { kind: 'facilitator', name: 'one.example' } as const
const OTHER = { kind: 'facilitator', name: 'other.example' } as const
const WRITES = { kind: 'store-write', name: 'sqlite' } as const
const DISK = { kind: 'disk', name: 'data' } as const

test('an outage causes one alert when it begins and one log line when it ends, however often it is reported in between', () => {
  outages.recordState(ONE, null)
  outages.recordState(ONE, 'it does not respond')
  clock.advance(5000)
  outages.recordState(ONE, 'it answers with status 503')
  expect(outages.listAll()).toEqual([{ ...ONE, state: 'down', since: NOW, reason: 'it answers with status 503' }])
  clock.advance(5000)
  outages.recordState(ONE, null)
  outages.recordState(ONE, null)
  expect(outages.listAll()).toEqual([{ ...ONE, state: 'up', since: NOW + 10_000, reason: null }])
  const named = { dependency: 'facilitator', name: 'one.example' }
  expect(logger.alerts).toEqual([{ event: 'outage', facts: { ...named, reason: 'it does not respond' } }])
  expect(logger.notes).toEqual([{ event: 'outage-over', facts: { ...named, seconds: 10 } }])
})

test('sales stop only if all of several redundant parts are down', () => {
  outages.recordState(ONE, 'it is down')
  outages.recordState(OTHER, null)
  expect(listSalesStoppers(outages.listAll())).toEqual([])
  outages.recordState(OTHER, 'it is down, too')
  expect(listSalesStoppers(outages.listAll()).map(({ name }) => name)).toEqual(['one.example', 'other.example'])
})

test('the readiness report says whether the wall sells and whether it can be read, and gives the reasons if not', () => {
  const asked = createReadiness({ rail: armedRail, outages })
  outages.recordState(DISK, 'the disk is nearly full')
  expect(asked.checkSelling()).toMatchObject({ ready: true, reasons: [] })
  outages.recordState(WRITES, 'the disk is full')
  expect(asked.checkSelling()).toMatchObject({ ready: false, reasons: ['the disk is full'] })
  expect(asked.checkReading()).toMatchObject({ ready: true, dependencies: [{ kind: 'disk' }, { kind: 'store-write' }] })
  outages.recordState(WRITES, null)
  asked.drain()
  for (const reported of [asked.checkSelling(), asked.checkReading()])
    expect(reported).toMatchObject({ ready: false, reasons: ['the wall is shutting down'] })
})

test('a wall that does not accept payments yet says what it waits for', () => {
  const rail = { ...armedRail, readState: () => 'arming' as const }
  const waiting = 'the wall is still checking purchases left open by an earlier run'
  expect(createReadiness({ rail, outages }).checkSelling().reasons).toEqual([waiting])
  const faulty = { ...rail, readFault: () => 'the token is another one' }
  expect(createReadiness({ rail: faulty, outages }).checkSelling().reasons).toEqual(['the token is another one'])
})

const createBlock = (number: bigint, aheadSeconds: number) => ({
  number,
  timestamp: BigInt(Math.round(clock.now() / 1000) - aheadSeconds),
})

test('the clock is reported as wrong if a block is more than 60 s in the future, or a new block more than 60 s in the past', () => {
  const checkBlock = createClockCheck({ clock, outages })
  const hasOutage = () => outages.listAll().some(({ state }) => state === 'down')
  checkBlock(createBlock(1n, 3 * CLOCK_OFF_MAX))
  checkBlock(createBlock(1n, 4 * CLOCK_OFF_MAX))
  // A chain that makes no blocks proves nothing about the clock.
  expect(hasOutage()).toBe(false)
  checkBlock(createBlock(2n, CLOCK_OFF_MAX + 1))
  expect(hasOutage()).toBe(true)
  checkBlock(createBlock(3n, 2))
  expect(hasOutage()).toBe(false)
  checkBlock(createBlock(3n, -CLOCK_OFF_MAX - 1))
  expect(hasOutage()).toBe(true)
  expect(logger.alerts.map(({ facts }) => facts['reason'])).toEqual([
    'the clock of this machine is more than 60 s ahead of the newest block',
    'the clock of this machine is more than 60 s behind the newest block',
  ])
})
