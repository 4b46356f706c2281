/** The times of sales, by which the past is played. */

import type { Wall } from './wall-model.ts'

/** Unix milliseconds of every sale, ascending. */
export function momentsOf({ claims }: Wall): Float64Array<ArrayBuffer> {
  return Float64Array.from(claims.values(), ({ t }) => t).sort()
}

/** How many sales had been made at a moment; all of them now. */
export function soldBy(moments: Float64Array, at: number | undefined): number {
  if (at === undefined) return moments.length
  let low = 0
  let high = moments.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((moments[middle] ?? Infinity) <= at) low = middle + 1
    else high = middle
  }
  return low
}

/** The moment at which so many sales had been made; before the first for none, now for all. */
export function momentAfter(moments: Float64Array, count: number): number | undefined {
  if (count >= moments.length) return undefined
  return count <= 0 ? Math.max((moments[0] ?? 1) - 1, 0) : moments[count - 1]
}

// All of the wall in at most this time, and at least this long for each sale of a small one.
const WHOLE_PLAY_MS = 20_000
const SALE_MAX_MS = 400

/** How many sales, with a fraction, have passed after playing for `ms` from `count`. */
export function played(moments: Float64Array, count: number, ms: number): number {
  return count + ms / Math.min(SALE_MAX_MS, WHOLE_PLAY_MS / Math.max(moments.length, 1))
}
