/** The machine's clocks. */

import type { Clock } from '../ports.ts'

export const systemClock: Clock = {
  now: () => Date.now(),
  wait: (ms) => Bun.sleep(ms),
}
