/** Whether the store is of the present: no older copy of it, put back. */

import { StoreUnavailable } from '../domain/failure.ts'
import type { Clock, Journal } from '../ports.ts'
import { compareReceipts, heightNow, type Comparing } from './compare-receipts.ts'

// How often a store of the present notes how far the chain has come.
const REACH_EVERY_MS = 60_000

/**
 * Makes a question that is asked until it is answered with yes, and then holds. While money arrived that no purchase is
 * known for, the answer is no; the operator is told once of every such transfer, and what to do.
 *
 * From then on the height is noted now and again: a purchase is written down before its money moves, so what else comes
 * in while the wall runs is no sale, and the next start has little to look at.
 */
export function presence(comparing: Comparing & { readonly clock: Clock }, journal: Journal): () => Promise<boolean> {
  const { chain, clock, horizon, terms } = comparing
  let isPresent = false
  let reachedAt = 0
  const told = new Set<string>()
  const reach = async (height: bigint) => {
    reachedAt = clock.elapsed()
    await horizon.reach(height).catch(ignoreTrouble)
  }
  return async () => {
    if (isPresent) {
      if (clock.elapsed() - reachedAt < REACH_EVERY_MS) return true
      const height = await heightNow(chain, terms.payTo)
      if (height !== 'silent') await reach(height)
      return true
    }
    const found = await compareReceipts(comparing)
    if (found === 'silent') return false
    for (const { payer, nonce, tx } of found.orphans) {
      if (told.has(nonce)) continue
      told.add(nonce)
      journal.alarm('orphan', { payer, nonce, tx, what: 'a block was paid for that this database never sold' })
    }
    if (found.orphans.length > 0) return false
    await reach(found.through)
    isPresent = true
    return true
  }
}

/** The next start then looks at more of the chain than it must. */
function ignoreTrouble(error: unknown): void {
  if (!(error instanceof StoreUnavailable)) throw error
}
