import { describe, expect, test } from 'bun:test'
import { runPeriodically } from '../../../server/health/run-periodically.ts'
import type { Clock } from '../../../server/ports.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'

/** A clock whose waits end immediately, or only when they are aborted. */
function createWorld(ends: boolean) {
  const waits: number[] = []
  const logger = createFakeLogger()
  const clock: Clock = {
    now: () => 0,
    elapsed: () => 0,
    async wait(ms, signal) {
      waits.push(ms)
      if (!ends && signal?.aborted === false)
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    },
  }
  return { waits, logger, clock }
}

describe('periodic work', () => {
  test('periodic work runs again after the delay that it returns, until it is stopped', async () => {
    const world = createWorld(true)
    const stop = new AbortController()
    let times = 0
    await runPeriodically(world, stop.signal, () => {
      if (++times === 3) stop.abort()
      return Promise.resolve(times * 100)
    })
    expect(times).toBe(3)
    expect(world.waits.slice(0, 2)).toEqual([100, 200])
  })

  test('stopping periodic work ends its pause immediately', async () => {
    const stop = new AbortController()
    const worked = Promise.withResolvers<void>()
    const done = runPeriodically(createWorld(false), stop.signal, () => {
      worked.resolve()
      return Promise.resolve(60_000)
    })
    await worked.promise
    stop.abort()
    await done
  })

  test('periodic work that was stopped before its start never runs', async () => {
    let times = 0
    await runPeriodically(createWorld(true), AbortSignal.abort(), () => Promise.resolve(++times))
    expect(times).toBe(0)
  })

  test('periodic work continues after an exception, and the operator gets an alert without the message of the exception', async () => {
    const world = createWorld(true)
    const stop = new AbortController()
    let times = 0
    await runPeriodically(world, stop.signal, async () => {
      if (++times === 1) throw new RangeError('secret words')
      stop.abort()
      return 0
    })
    expect(times).toBe(2)
    expect(JSON.stringify(world.logger)).toContain('RangeError')
    expect(JSON.stringify(world.logger)).not.toContain('secret')
  })
})
