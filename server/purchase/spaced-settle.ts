/** How often one payment is settled. */

import { keyOf } from '../domain/purchase/payment.ts'
import type { Clock, Facilitator } from '../ports.ts'

// A settlement is asked for again at most this often, however many copies of its request come in.
const SETTLE_GAP_MS = 3000

/** Lets one payment be settled only so often; in between, the last try still stands as unclear. */
export function spacedSettle(settle: Facilitator['settle'], clock: Clock): Facilitator['settle'] {
  const lastMs = new Map<string, number>()
  return async (target, payment) => {
    const key = keyOf(payment)
    const now = clock.elapsed()
    for (const [other, at] of lastMs) if (now - at >= SETTLE_GAP_MS) lastMs.delete(other)
    if (lastMs.has(key)) return { kind: 'unclear' }
    const answer = await settle(target, payment)
    if (answer.kind !== 'unsent' && answer.kind !== 'busy') lastMs.set(key, clock.elapsed())
    return answer
  }
}
