/** Whether the store is of the present: no older copy of it, put back. */

import { StoreUnavailable } from '../domain/failure.ts'
import type { Journal } from '../ports.ts'
import { compareReceipts, type Comparing } from './compare-receipts.ts'

/**
 * Makes a question that is asked until it is answered with yes, and then holds. While money arrived that no purchase is
 * known for, the answer is no; the operator is told once of every such transfer, and what to do.
 */
export function presence(comparing: Comparing, journal: Journal): () => Promise<boolean> {
  let isPresent = false
  const told = new Set<string>()
  return async () => {
    if (isPresent) return true
    const found = await compareReceipts(comparing)
    if (found === 'silent') return false
    for (const { payer, nonce, tx } of found.orphans) {
      if (told.has(nonce)) continue
      told.add(nonce)
      journal.alarm('orphan', { payer, nonce, tx, what: 'a block was paid for that this database never sold' })
    }
    if (found.orphans.length > 0) return false
    await comparing.horizon.reach(found.through).catch(ignoreTrouble)
    isPresent = true
    return true
  }
}

/** The next start then looks at more of the chain than it must. */
function ignoreTrouble(error: unknown): void {
  if (!(error instanceof StoreUnavailable)) throw error
}
