/** Brings every unfinished purchase nearer to its end, as the sweeper does at start and every few seconds. */

import pLimit from 'p-limit'
import { StoreUnavailable } from '../domain/failure.ts'
import type { Clock, Journal, Ledger } from '../ports.ts'
import type { Seller } from './buy-block.ts'

const AT_ONCE = 8

/** Looks at each unfinished purchase once; one that cannot be looked at now waits for the next sweep. */
export async function sweep(ledger: Ledger, seller: Seller, clock: Clock, journal: Journal): Promise<void> {
  const limit = pLimit(AT_ONCE)
  try {
    const keys = await ledger.unfinished(clock.now())
    await Promise.all(keys.map((key) => limit(() => seller.reconcile(key))))
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    journal.alarm('sweep-failed', { why: 'the store is unavailable' })
  }
}
