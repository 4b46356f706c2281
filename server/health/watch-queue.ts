/**
 * Watches how long expensive requests wait for their turn. Long waits count as a separate outage, whatever fills the
 * queue.
 */

import type { WatchDeps } from './outages.ts'

export type QueueWatch<Class extends string> = {
  /** Records how long a request of a class waited, even if the request was then refused. */
  recordWait(of: Class, ms: number): void
  /** Evaluates the waits of the last few seconds. Must be called periodically. */
  check(): void
}

// For comparison: on a quiet wall, a request behind another one waits about a millisecond.
const LONG_MS = 1000

const WINDOW_MS = 10_000
const LONG_MIN = 5
const LONG_SHARE_MIN = 0.2

const OVER_AFTER_MS = 8000

/**
 * How many requests of a class waited recently, and how many of them waited long. Both are counted in slices of the
 * window, so that a flood needs no more memory.
 */
type Counts = { readonly slices: { atMs: number; all: number; long: number }[]; isDown: boolean; lastLongMs: number }

const SLICE_MS = 1000

/** Makes a watch with no recorded waits. */
export function watchQueue<Class extends string>(
  { clock, outages }: WatchDeps,
  classes: readonly Class[],
): QueueWatch<Class> {
  const counts = new Map(classes.map((name): [Class, Counts] => [name, { slices: [], isDown: false, lastLongMs: 0 }]))
  return {
    recordWait(of, ms) {
      const own = counts.get(of)
      if (own === undefined) return
      const now = clock.elapsed()
      let slice = own.slices.at(-1)
      if (slice === undefined || now - slice.atMs >= SLICE_MS) {
        slice = { atMs: now, all: 0, long: 0 }
        own.slices.push(slice)
        if (own.slices.length > WINDOW_MS / SLICE_MS + 1) own.slices.shift()
      }
      slice.all += 1
      if (ms < LONG_MS) return
      slice.long += 1
      own.lastLongMs = now
    },
    check() {
      const now = clock.elapsed()
      for (const [name, own] of counts) {
        const recent = own.slices.filter(({ atMs }) => now - atMs < WINDOW_MS)
        const sumWaits = (of: 'all' | 'long') => recent.reduce((total, slice) => total + slice[of], 0)
        const [all, long] = [sumWaits('all'), sumWaits('long')]
        const waits = long >= LONG_MIN && long >= all * LONG_SHARE_MIN
        own.isDown = waits || (own.isDown && now - own.lastLongMs < OVER_AFTER_MS)
        const words = `${long} of ${all} ${name} in the last ${WINDOW_MS / 1000} s waited longer than ${LONG_MS / 1000} s for their turn`
        outages.recordState({ kind: 'queue', name }, own.isDown ? words : null)
      }
    },
  }
}
