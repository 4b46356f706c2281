/** Brings every unfinished purchase nearer to its end, as the sweeper does at start and every few seconds. */

import pLimit from 'p-limit'
import { StoreUnavailable } from '../domain/failure.ts'
import type { Clock, Journal, Ledger } from '../ports.ts'
import type { SweptSeller } from './buy-block.ts'

const AT_ONCE = 8

/** Looks at each unfinished purchase once, and answers whether that could be done; what could not waits for the next sweep. */
export async function sweep(ledger: Ledger, seller: SweptSeller, clock: Clock, journal: Journal): Promise<boolean> {
  const limit = pLimit(AT_ONCE)
  try {
    await seller.catchUp()
    const keys = await ledger.unfinished(clock.now())
    await Promise.all(keys.map((key) => limit(() => seller.reconcile(key))))
    return true
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    journal.alarm('sweep-failed', { why: 'the store is unavailable' })
    return false
  }
}
