/**
 * Token buckets, one per key. A bucket starts full, refills at a constant rate, and never holds more than its burst. Only
 * the time at which it is full again is stored (the generic cell rate algorithm).
 */

import { createLru } from '../../shared/lru.ts'

/** The burst, and the rate per second from then on. */
export type Budget = { readonly burst: number; readonly perSecond: number }

/** The buckets of one budget, one per key. Times are milliseconds by the monotonic clock. */
export type Buckets = {
  /** Takes `cost` from the bucket of `key`; returns 0, or after how many milliseconds there will be enough. */
  take(key: string, now: number, cost?: number): number
  /** The same without taking anything. */
  wait(key: string, now: number): number
}

// A seventh of a second, taken seven times, is not quite a second.
const ROUNDING_MS = 1e-6

/** Makes buckets for at most `keysMax` keys. Beyond that, the least recently used one is forgotten, and is full again. */
export function createTokenBuckets({ burst, perSecond }: Budget, keysMax: number): Buckets {
  const fullAt = createLru<string, number>(keysMax)
  const perTokenMs = 1000 / perSecond
  const burstMs = burst * perTokenMs
  const after = (key: string, now: number, cost: number) => Math.max(fullAt.get(key) ?? now, now) + cost * perTokenMs
  return {
    take(key, now, cost = 1) {
      const next = after(key, now, cost)
      const waitMs = next - now - burstMs
      if (waitMs > ROUNDING_MS) return waitMs
      fullAt.set(key, next)
      return 0
    },
    wait(key, now) {
      const waitMs = after(key, now, 1) - now - burstMs
      return waitMs > ROUNDING_MS ? waitMs : 0
    },
  }
}
