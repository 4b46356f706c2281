/** Works on every unfinished purchase, when the process starts and every few seconds. */

import pLimit from 'p-limit'
import { StoreUnavailable } from '../domain/failure.ts'
import { toPaymentKey, type PaymentKey } from '../domain/purchase/payment.ts'
import type { Clock, Logger, Ledger, ExclusiveJobs } from '../ports.ts'
import { createAttemptBudget } from './attempt-budget.ts'
import type { Seller } from './seller.ts'

const AT_ONCE = 8

export type ReconcilerDeps = {
  readonly ledger: Ledger
  readonly seller: Pick<Seller, 'reconcile'>
  readonly jobs: ExclusiveJobs
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The result of a sweep. `seen`: all purchases that were open when the reconciler was made have been checked since.
 * `partly`: some have not, because another run works on them or another process sweeps. `failed`: the database is
 * unavailable.
 */
export type SweepResult = 'seen' | 'partly' | 'failed'

/**
 * Makes the reconciler of this process. Each call checks each unfinished purchase once, if its wallet's budget allows
 * that. A purchase that could not be checked waits for the next call.
 */
export function createReconciler({ ledger, seller, jobs, clock, logger }: ReconcilerDeps): () => Promise<SweepResult> {
  // Purchases on which another run was working in every sweep so far. That run may have failed, so they still have to
  // be checked.
  let unseen: ReadonlySet<string> | undefined
  const budget = createAttemptBudget(clock)
  let isFailing = false
  return async () => {
    try {
      await jobs.run('sweep', async () => {
        const unfinished = await ledger.listUnfinished(clock.now())
        const due = new Set(budget.selectDue(unfinished))
        const elsewhere = await reconcileAll(
          seller,
          // The budget applies only after the first complete sweep.
          unfinished.filter((key) => unseen === undefined || due.has(key) || unseen.has(toPaymentKey(key))),
        )
        unseen = unseen?.intersection(elsewhere) ?? elsewhere
      })
      isFailing = false
      return unseen?.size === 0 ? 'seen' : 'partly'
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      // The failure is logged once per outage.
      if (!isFailing) logger.note('sweep-failed', { why: 'the database is unavailable' })
      isFailing = true
      return 'failed'
    }
  }
}

/** Checks purchases; returns those that could not be checked. Throws `StoreUnavailable` only after it has tried all. */
async function reconcileAll(
  seller: Pick<Seller, 'reconcile'>,
  keys: readonly PaymentKey[],
): Promise<ReadonlySet<string>> {
  const limit = pLimit(AT_ONCE)
  const elsewhere = new Set<string>()
  let trouble: StoreUnavailable | undefined
  const tryToReconcile = async (key: PaymentKey) => {
    try {
      if (!(await seller.reconcile(key))) elsewhere.add(toPaymentKey(key))
    } catch (error) {
      // One damaged row must not keep the other purchases from being checked.
      if (!(error instanceof StoreUnavailable)) throw error
      trouble = error
    }
  }
  await Promise.all(keys.map((key) => limit(() => tryToReconcile(key))))
  if (trouble !== undefined) throw trouble
  return elsewhere
}
