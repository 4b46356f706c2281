/** Doubts that are not in the store yet, because it failed or because a client has only just hung up. */

import { StoreUnavailable } from '../domain/failure.ts'
import { keyOf, type Address, type PaymentKey } from '../domain/payment.ts'
import type { Purchase } from '../domain/purchase.ts'
import type { Ledger } from '../ports.ts'

/** While the store lacks a payer's doubt, nothing new may be sold to that payer: the older purchase could not be seen. */
export type Doubts = {
  /** Remembers that the payer of a held block was left without an answer. */
  note(purchase: Purchase): void
  /** Nothing is held for a payment any more. */
  forget(key: PaymentKey): void
  /** Writes down all that was noted for a payer. Throws `StoreUnavailable` where that fails, and keeps the note. */
  write(payer: Address): Promise<void>
}

export function unwrittenDoubts(ledger: Ledger): Doubts {
  const noted = new Map<string, Purchase>()
  return {
    note: (purchase) => void noted.set(keyOf(purchase.payment), purchase),
    forget: (key) => void noted.delete(keyOf(key)),
    async write(payer) {
      for (const [key, purchase] of noted) {
        if (purchase.payment.payer !== payer) continue
        await writeDown(ledger, purchase)
        noted.delete(key)
      }
    },
  }
}

async function writeDown(ledger: Ledger, purchase: Purchase): Promise<void> {
  try {
    await ledger.doubt(purchase)
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error
    // It may have come to its end meanwhile.
    const now = await ledger.find(purchase.payment)
    if (now?.state.kind === 'reserved') throw error
  }
}
