/** Brings every unfinished purchase nearer to its end, as the sweeper does at start and every few seconds. */

import pLimit from 'p-limit'
import { StoreUnavailable } from '../domain/failure.ts'
import { keyOf, type PaymentKey } from '../domain/payment.ts'
import type { Clock, ExclusiveJobs, Journal, Ledger } from '../ports.ts'
import type { SweptSeller } from './buy-block.ts'

const AT_ONCE = 8

/** What sweeping needs. */
export type Sweeping = {
  readonly ledger: Ledger
  readonly seller: SweptSeller
  readonly jobs: ExclusiveJobs
  readonly clock: Clock
  readonly journal: Journal
}

/**
 * How a sweep ends: `seen` once everything that was open when the sweeper was made has been looked at since, whoever left
 * it; `partly` while another run is at some of it, or another process at the sweep; `failed` where the store is
 * unavailable.
 */
export type Swept = 'seen' | 'partly' | 'failed'

/** Makes the sweeper of this process. Each call looks at each unfinished purchase once; what could not be waits for the next. */
export function sweeper({ ledger, seller, jobs, clock, journal }: Sweeping): () => Promise<Swept> {
  // What another run had every time. It may have died or failed with it, so that only a look tells.
  let unseen: ReadonlySet<string> | undefined
  let isFailing = false
  return async () => {
    try {
      // What this process could not write is known to no other.
      await seller.catchUp()
      await jobs.run('sweep', async () => {
        const elsewhere = await lookAtAll(seller, await ledger.unfinished(clock.now()))
        unseen = unseen?.intersection(elsewhere) ?? elsewhere
      })
      isFailing = false
      return unseen?.size === 0 ? 'seen' : 'partly'
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      // Once, however long it lasts.
      if (!isFailing) journal.alarm('sweep-failed', { why: 'the store is unavailable' })
      isFailing = true
      return 'failed'
    }
  }
}

/** Looks at purchases; answers those that could not be looked at. */
async function lookAtAll(seller: SweptSeller, keys: readonly PaymentKey[]): Promise<ReadonlySet<string>> {
  const limit = pLimit(AT_ONCE)
  const elsewhere = new Set<string>()
  const look = async (key: PaymentKey) => {
    if (!(await seller.reconcile(key))) elsewhere.add(keyOf(key))
  }
  await Promise.all(keys.map((key) => limit(() => look(key))))
  return elsewhere
}
