/** Brings every unfinished purchase nearer to its end, at the start and every few seconds. */

import pLimit from 'p-limit'
import { StoreUnavailable } from '../domain/failure.ts'
import { keyOf, type PaymentKey } from '../domain/purchase/payment.ts'
import type { Clock, Logger, Ledger, ExclusiveJobs } from '../ports.ts'
import { attemptBudget } from './attempt-budget.ts'
import type { ReconciledSeller } from './seller.ts'

const AT_ONCE = 8

type SellerToReconcile = Pick<ReconciledSeller, 'reconcile' | 'writePending'>

/** What reconciling needs. */
export type ReconcilerDeps = {
  readonly ledger: Ledger
  readonly seller: SellerToReconcile
  readonly jobs: ExclusiveJobs
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * How a sweep ends: `seen` once everything that was open when the reconciler was made has been looked at since, whoever left
 * it; `partly` while another run is at some of it, or another process at the sweep; `failed` where the store is
 * unavailable.
 */
export type SweepResult = 'seen' | 'partly' | 'failed'

/**
 * Makes the reconciler of this process. Each call looks at each unfinished purchase once, as often as its wallet's budget
 * allows; what could not be looked at waits for the next.
 */
export function reconciler({ ledger, seller, jobs, clock, logger }: ReconcilerDeps): () => Promise<SweepResult> {
  // What another run had every time. It may have died or failed with it, so that only a look tells.
  let unseen: ReadonlySet<string> | undefined
  const budget = attemptBudget(clock)
  let isFailing = false
  return async () => {
    try {
      // What this process could not write is known to no other.
      await seller.writePending()
      await jobs.run('sweep', async () => {
        const unfinished = await ledger.unfinished(clock.now())
        const due = new Set(budget.due(unfinished))
        const elsewhere = await lookAtAll(
          seller,
          // Nothing is spared before all of it was looked at once: a sweep that failed has looked at nothing.
          unfinished.filter((key) => unseen === undefined || due.has(key) || unseen.has(keyOf(key))),
        )
        unseen = unseen?.intersection(elsewhere) ?? elsewhere
      })
      isFailing = false
      return unseen?.size === 0 ? 'seen' : 'partly'
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      // Once, however long it lasts.
      if (!isFailing) logger.note('sweep-failed', { why: 'the store is unavailable' })
      isFailing = true
      return 'failed'
    }
  }
}

/** Looks at purchases; answers those that could not be looked at. Throws `StoreUnavailable` once all others have been. */
async function lookAtAll(seller: SellerToReconcile, keys: readonly PaymentKey[]): Promise<ReadonlySet<string>> {
  const limit = pLimit(AT_ONCE)
  const elsewhere = new Set<string>()
  let trouble: StoreUnavailable | undefined
  const look = async (key: PaymentKey) => {
    try {
      if (!(await seller.reconcile(key))) elsewhere.add(keyOf(key))
    } catch (error) {
      // One damaged row keeps nobody from looking at the others.
      if (!(error instanceof StoreUnavailable)) throw error
      trouble = error
    }
  }
  await Promise.all(keys.map((key) => limit(() => look(key))))
  if (trouble !== undefined) throw trouble
  return elsewhere
}
