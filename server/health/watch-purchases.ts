/**
 * Watches the outcomes of purchases. Many failures that are not the buyers' fault count as a separate outage, whatever
 * the cause.
 */

import { statusOf, type FailureCode } from '../domain/failure.ts'
import type { Address } from '../domain/purchase/payment.ts'
import type { Outcome } from '../domain/purchase/purchase.ts'
import type { WatchDeps } from './outages.ts'

export type PurchaseWatch = {
  /** Records the outcome of a purchase. */
  recordOutcome(payer: Address, outcome: Outcome): void
  /** Evaluates the purchases of the last minute. Must be called periodically. */
  check(): void
}

const WINDOW_MS = 60_000

// With these minimums, a single broken or hostile payer cannot cause this outage.
const FAILING_PAYERS_MIN = 5
const FAILING_SHARE_MIN = 0.2

const OVER_AFTER_MS = 8000

// More purchases than a wall completes in a minute; limits memory use.
const ENDED_MAX = 8192

type Ended = { readonly atMs: number; readonly payer: Address; readonly failed: FailureCode | null }

/**
 * Makes a watch with no purchases. Failures that are the buyer's fault, or that our own full queues cause, do not
 * count.
 */
export function watchPurchases({ clock, outages }: WatchDeps): PurchaseWatch {
  let recent: Ended[] = []
  let isDown = false
  const check = () => {
    const now = clock.elapsed()
    recent = recent.filter(({ atMs }) => now - atMs < WINDOW_MS)
    const lastMs = recent.findLast(({ failed }) => failed !== null)?.atMs
    const isOver = isDown && (lastMs === undefined || now - lastMs >= OVER_AFTER_MS)
    // Purchases from this outage must not trigger the next one.
    if (isOver) recent = []
    const failing = recent.flatMap(({ payer, failed }) => (failed === null ? [] : [{ payer, failed }]))
    const payers = new Set(failing.map(({ payer }) => payer)).size
    const areMany = payers >= FAILING_PAYERS_MIN && failing.length >= recent.length * FAILING_SHARE_MIN
    isDown = !isOver && (isDown || areMany)
    const words = `${failing.length} of ${recent.length} purchases in the last minute failed, most with ${findMostFrequent(failing)}`
    outages.recordState({ kind: 'purchases', name: 'buyers' }, isDown ? words : null)
  }
  return {
    recordOutcome(payer, outcome) {
      const failed = outcome.kind === 'bought' ? null : outcome.code
      // Anyone can fill our queues with invalid payments; that is not an outage.
      if (failed === 'server_busy' || (failed !== null && statusOf[failed] < FIRST_OF_OURS)) return
      if (recent.length < ENDED_MAX) recent.push({ atMs: clock.elapsed(), payer, failed })
    },
    check,
  }
}

const FIRST_OF_OURS = 500

/** The most frequent failure code. */
function findMostFrequent(failing: readonly { readonly failed: FailureCode }[]): string {
  const counts = Map.groupBy(failing, ({ failed }) => failed)
  const [most] = [...counts].toSorted(([, one], [, other]) => other.length - one.length)
  return most?.[0] ?? ''
}
