import { describe, expect, test } from 'bun:test'
import { rateLimit, rateLimitsByKey } from '../../server/domain/rate-limit.ts'

describe('a rate limit', () => {
  test('allows so many in any stretch of its length, and each again once that has passed', () => {
    const may = rateLimit({ times: 3, withinMs: 1000 })
    const at = (times: readonly number[]) => times.map((time) => may(time))
    expect(at([0, 0, 900, 900, 999])).toEqual([true, true, true, false, false])
    expect(at([1000, 1000, 1000, 1899, 1900, 1901])).toEqual([true, true, false, false, true, false])
  })

  test('never allows more, however it is asked', () => {
    const rate = { times: 20, withinMs: 1000 }
    const may = rateLimit(rate)
    const allowed = Array.from({ length: 10_000 }, (_, at) => at * 7).filter((time) => may(time))
    for (const [at, time] of allowed.entries())
      expect(time - (allowed[at - rate.times] ?? -rate.withinMs)).toBeGreaterThanOrEqual(rate.withinMs)
    expect(allowed.length).toBe(20 * 70)
  })

  test('is each key’s own', () => {
    const may = rateLimitsByKey({ times: 1, withinMs: 1000 }, 10)
    expect([may('a', 0), may('b', 0), may('a', 1), may('b', 1000), may('a', 1000)]).toEqual([
      true,
      true,
      false,
      true,
      true,
    ])
  })

  test('remembers the keys that were asked for last, and no more of them than it should', () => {
    const may = rateLimitsByKey({ times: 1, withinMs: 1000 }, 2)
    for (const key of ['a', 'b']) expect(may(key, 0)).toBe(true)
    expect(may('a', 1)).toBe(false)
    expect(may('c', 1)).toBe(true)
    expect(may('a', 2)).toBe(false)
    expect(may('b', 2)).toBe(true)
  })
})
