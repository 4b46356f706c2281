import { expect, test } from 'bun:test'
import { describeMachine, isCausedByMachine, scaleLimit, computeSlowness } from '../../support/machine.ts'
import { findFailure, formatLastLine, findMissingRequirement } from '../../support/run-report.ts'

const quiet = { load: 0.5, processors: 2, flushMs: 2 }
const busy = { load: 7.5, processors: 2, flushMs: 58 }

test('a failed test and a missing program are recognised in the output of the tests, with or without colours', () => {
  expect(findFailure('\u001B[31m(fail)\u001B[0m the page > opens [1.20s]')).toBe('the page > opens')
  expect(findFailure('(pass) the page > opens [1.20s]')).toBeUndefined()
  expect(findMissingRequirement('skipped without pgbouncer')).toBe('pgbouncer')
  expect(findMissingRequirement('(skip) a pooler')).toBeUndefined()
})

test('the last line of the report shows how long the tests took, how loaded the machine was, and which programs were missing', () => {
  expect(formatLastLine({ seconds: 590.4, measured: [quiet, busy], missing: ['pgbouncer', 'Firefox'] })).toBe(
    'The tests took 590 s; on average load 4.0 on 2 processors, 30 ms to flush a file. Skipped what needs Firefox, pgbouncer; long runs are for `bun run endurance`.',
  )
  expect(formatLastLine({ seconds: 5, measured: [quiet], missing: [] })).toContain('Nothing was missing')
})

test('the slowness of a machine is computed from its CPU load or its disk, whichever is worse, and is between 1 and 4', () => {
  expect(computeSlowness(quiet)).toBe(1)
  expect(computeSlowness(busy)).toBe(3.75)
  expect(computeSlowness({ ...quiet, flushMs: 60 })).toBe(3)
  expect(computeSlowness({ ...busy, load: 80 })).toBe(4)
  expect(describeMachine(busy)).toBe('load 7.5 on 2 processors, 58 ms to flush a file')
})

test('a scaled time limit is never shorter than the original, and at most four times as long', () => {
  expect(scaleLimit(1000)).toBeGreaterThanOrEqual(1000)
  expect(scaleLimit(1000)).toBeLessThanOrEqual(4000)
})

test('only on a busy machine is a long queue or a late event loop caused by the machine, and never another outage', () => {
  for (const dependency of ['queue', 'event-loop']) {
    expect(isCausedByMachine(dependency, () => busy)).toBe(true)
    expect(isCausedByMachine(dependency, () => quiet)).toBe(false)
  }
  for (const dependency of ['chain', 'store-write', undefined])
    expect(isCausedByMachine(dependency, () => busy)).toBe(false)
})
