/** Watches this process itself: its clock, compared with the chain's, and the lateness of its event loop. */

import type { UnixSeconds } from '../domain/purchase/payment.ts'
import type { Clock } from '../ports.ts'
import type { Outages, WatchDeps } from './outages.ts'

/** A block, by height and time. */
type Block = { readonly number: bigint; readonly timestamp: UnixSeconds }

/** How far the clock may be off, in seconds. */
export const CLOCK_OFF_MAX = 60

/**
 * Makes the check that compares the clock with each new block of the chain. A block that was seen before is ignored.
 */
export function createClockCheck({ clock, outages }: WatchDeps): (newest: Block | undefined) => void {
  let seen: bigint | undefined
  return (newest) => {
    // The first block seen may have been made at any earlier time.
    const isFresh = newest !== undefined && seen !== undefined && newest.number > seen
    seen = newest?.number ?? seen
    if (newest === undefined) return
    const ahead = Math.round(clock.now() / 1000) - Number(newest.timestamp)
    // A block that is not new proves nothing if its time is past, because the chain may simply have no newer one. A
    // block from the future proves that the clock is behind.
    if (!isFresh && ahead > 0) return
    const isOff = Math.abs(ahead) > CLOCK_OFF_MAX
    const way = ahead > 0 ? 'ahead of' : 'behind'
    outages.recordState(
      { kind: 'clock', name: 'machine' },
      isOff ? `the clock of this machine is more than ${CLOCK_OFF_MAX} s ${way} the newest block` : null,
    )
  }
}

type EventLoopWatch = {
  /** Whether the event loop was late for at least half of the last three seconds. */
  isLate(): boolean
  /**
   * Waits for the next turn of the event loop, and reports lasting lateness to `outages`. Must be called repeatedly.
   */
  watch(outages: Outages, signal?: AbortSignal): Promise<void>
}

const TURN_MS = 200
const WINDOW_MS = 3000
const LATE_SHARE = 0.5

// Garbage collection or a busy machine causes shorter delays.
const LASTS_MS = 4000

type Turn = { readonly atMs: number; readonly lateMs: number }

/** Makes a watch that at first assumes that the event loop is not late. */
export function watchEventLoop(clock: Clock): EventLoopWatch {
  let turns: readonly Turn[] = []
  let dueMs: number | undefined // when the awaited turn is due
  let changedMs = clock.elapsed() // when lateness began or ended
  let wasLate = false
  let isTold = false

  const isLate = () => {
    const now = clock.elapsed()
    const pendingMs = dueMs === undefined ? 0 : Math.max(0, now - dueMs)
    const lateMs = turns.reduce((sum, turn) => (now - turn.atMs < WINDOW_MS ? sum + turn.lateMs : sum), pendingMs)
    return lateMs >= WINDOW_MS * LATE_SHARE
  }
  return {
    isLate,
    async watch(outages, signal) {
      dueMs = clock.elapsed() + TURN_MS
      await clock.wait(TURN_MS, signal)
      const atMs = clock.elapsed()
      turns = [...turns.filter((turn) => atMs - turn.atMs < WINDOW_MS), { atMs, lateMs: Math.max(0, atMs - dueMs) }]
      dueMs = undefined
      if (isLate() !== wasLate) {
        wasLate = !wasLate
        changedMs = atMs
      }
      if (atMs - changedMs >= LASTS_MS) isTold = wasLate
      outages.recordState({ kind: 'event-loop', name: 'wall' }, isTold ? LATE : null)
    },
  }
}

const LATE = 'the wall is too slow: this machine is too small for the load, or the wall is being flooded'
