/** Limits calls that no payment depends on: few at once, each with a deadline, so that a hanging endpoint does not block everybody. */

import pLimit from 'p-limit'
import { withTimeout } from '../times.ts'

const AT_ONCE = 8
const WAITING_MAX = 64

// Waiting for one's turn counts.
const DEADLINE_MS = 3000

export type BoundedCalls = {
  /** What a call answers; `silent` when it fails or takes too long, `busy` when too many wait before it. */
  make<T>(call: () => Promise<T>): Promise<T | 'busy' | 'silent'>
  /** Whether one more call would be `busy`. */
  areFull(): boolean
}

/** Starts with no calls. */
export function boundedCalls(): BoundedCalls {
  const limit = pLimit(AT_ONCE)
  const areFull = () => limit.pendingCount >= WAITING_MAX
  return {
    areFull,
    async make<T>(call: () => Promise<T>) {
      if (areFull()) return 'busy'
      const inTurn = (late: AbortSignal): Promise<T | 'silent'> =>
        limit(async () => (late.aborted ? 'silent' : await call().catch(() => 'silent' as const)))
      return await withTimeout<T | 'silent'>(DEADLINE_MS, inTurn, 'silent')
    },
  }
}
