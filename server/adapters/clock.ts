/** The machine's clocks. */

import { setTimeout } from 'node:timers/promises'
import type { Clock } from '../ports.ts'

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  async wait(ms, signal) {
    try {
      await setTimeout(ms, undefined, signal === undefined ? {} : { signal })
    } catch (error) {
      if (signal?.aborted !== true) throw error
    }
  },
}
