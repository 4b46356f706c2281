/** A clock that moves only when a test advances it or code waits on it; a wait takes no real time. */

import type { Clock } from '../../../server/ports.ts'

export type FakeClock = Clock & { advance(ms: number): void }

export function createFakeClock(start: number): FakeClock {
  let now = start
  const passTime = (ms: number) => {
    now += ms
  }
  return { now: () => now, elapsed: () => now - start, wait: async (ms) => passTime(ms), advance: passTime }
}
