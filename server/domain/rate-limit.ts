/** How often something may be done, counted exactly: never more often in any stretch of time of that length. */

/** So many times within so many milliseconds. */
export type Rate = { readonly times: number; readonly withinMs: number }

/** Takes the time by a clock that is never set. Whether it may be done now; if so, it is counted. */
export type RateLimit = (nowMs: number) => boolean

/** A limit for one thing. */
export function rateLimit({ times, withinMs }: Rate): RateLimit {
  // The moments of the last `times` that were allowed; the oldest stands where the next one goes.
  const allowed: number[] = []
  let next = 0
  return (nowMs) => {
    const oldest = allowed[next]
    if (oldest !== undefined && nowMs - oldest < withinMs) return false
    allowed[next] = nowMs
    next = (next + 1) % times
    return true
  }
}

/** The same limit for each key. Of more than `keysMax`, those not asked for longest are forgotten. */
export function rateLimitsByKey(rate: Rate, keysMax: number): (key: string, nowMs: number) => boolean {
  const limits = new Map<string, RateLimit>()
  return (key, nowMs) => {
    const limit = limits.get(key) ?? rateLimit(rate)
    limits.delete(key)
    limits.set(key, limit)
    const [oldest] = limits.keys()
    if (limits.size > keysMax && oldest !== undefined) limits.delete(oldest)
    return limit(nowMs)
  }
}
