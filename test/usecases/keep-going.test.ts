import { describe, expect, test } from 'bun:test'
import { keepGoing } from '../../server/usecases/keep-going.ts'

/** A clock whose waits end at once, or never. */
function clockThat(ends: boolean) {
  const waits: number[] = []
  return {
    waits,
    now: () => 0,
    wait(ms: number) {
      waits.push(ms)
      return ends ? Promise.resolve() : new Promise<void>(() => {})
    },
  }
}

describe('work that keeps going', () => {
  test('is done again after as long as it says, until it is stopped', async () => {
    const clock = clockThat(true)
    const stop = new AbortController()
    let times = 0
    await keepGoing(clock, stop.signal, () => {
      if (++times === 3) stop.abort()
      return Promise.resolve(times * 100)
    })
    expect(times).toBe(3)
    expect(clock.waits.slice(0, 2)).toEqual([100, 200])
  })

  test('does not wait to the end of a pause to be stopped', async () => {
    const stop = new AbortController()
    const worked = Promise.withResolvers<void>()
    const done = keepGoing(clockThat(false), stop.signal, () => {
      worked.resolve()
      return Promise.resolve(60_000)
    })
    await worked.promise
    stop.abort()
    await done
  })

  test('never starts when it was stopped before', async () => {
    let times = 0
    await keepGoing(clockThat(true), AbortSignal.abort(), () => Promise.resolve(++times))
    expect(times).toBe(0)
  })
})
