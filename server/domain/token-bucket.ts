/**
 * Token buckets, one per key. A bucket starts full, refills at a constant rate, and never holds more than its burst.
 * Only the time at which it is full again is stored (the generic cell rate algorithm).
 */

import { createLru } from '../../shared/lru.ts'

/** The burst, and the refill rate per second. */
export type Budget = { readonly burst: number; readonly perSecond: number }

/** The buckets of one budget, one per key. Times are milliseconds of the monotonic clock. */
export type Buckets = {
  /** Takes `cost` from the bucket of `key` and returns 0, or returns the milliseconds until the bucket holds enough. */
  take(key: string, now: number, cost?: number): number
  /** Returns the wait for one token, without taking it. */
  computeWait(key: string, now: number): number
}

// Tolerates rounding errors: seven times a seventh of a second is not quite a second.
const ROUNDING_MS = 1e-6

/**
 * Makes buckets for at most `keysMax` keys. Beyond that, the least recently used bucket is dropped, and its key starts
 * with a full one again.
 */
export function createTokenBuckets({ burst, perSecond }: Budget, keysMax: number): Buckets {
  const fullAt = createLru<string, number>(keysMax)
  const perTokenMs = 1000 / perSecond
  const burstMs = burst * perTokenMs
  const computeFullAt = (key: string, now: number, cost: number) =>
    Math.max(fullAt.get(key) ?? now, now) + cost * perTokenMs
  return {
    take(key, now, cost = 1) {
      const next = computeFullAt(key, now, cost)
      const waitMs = next - now - burstMs
      if (waitMs > ROUNDING_MS) return waitMs
      fullAt.set(key, next)
      return 0
    },
    computeWait(key, now) {
      const waitMs = computeFullAt(key, now, 1) - now - burstMs
      return waitMs > ROUNDING_MS ? waitMs : 0
    },
  }
}
