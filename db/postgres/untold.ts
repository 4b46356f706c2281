/**
 * Sales and receipts whose commit was cut off when the database went away, so that nobody could say what was kept: their
 * payers were told to wait. If there is a sale after all, its receipt is owed from then on, and no payer who signs anew is
 * charged for another block instead.
 */

import { keyOf, type Address, type PaymentKey } from '../../server/domain/payment.ts'
import type { Connection } from './connection.ts'
import { CommitUnknown } from './errors.ts'
import { oweReceipt } from './sales.ts'
import type { Check } from './writes.ts'

/** What this process could not tell. */
export type Untold = {
  /** Does a step of a payment, and remembers it when nobody can say what was kept of it. */
  step<T>(key: PaymentKey, work: () => Promise<T>): Promise<T>
  /** Owes the receipts of a payer that are still untold. Throws `StoreUnavailable`, and keeps the note. */
  settle(payer: Address): Promise<void>
}

const TRY_EVERY_MS = 500

/** Keeps notes for as long as the process lives, and tries to be rid of them as soon as the database is back. */
export function untold({ transaction, isOpen }: Connection, check: Check): Untold {
  const notes = new Map<string, PaymentKey>()
  const settle = async (key: PaymentKey) => {
    // The lock of the wallet is the cut-off transaction's until it has ended, so that its end is seen here.
    await transaction(key.payer, (queries) => oweReceipt({ queries, check }, key))
    notes.delete(keyOf(key))
  }
  const keepTrying = async (key: PaymentKey) => {
    while (isOpen() && notes.has(keyOf(key))) {
      await Bun.sleep(TRY_EVERY_MS)
      await settle(key).catch(() => {})
    }
  }
  return {
    async step({ payer, nonce }, work) {
      try {
        return await work()
      } catch (error) {
        const key = { payer, nonce }
        if (error instanceof CommitUnknown && !notes.has(keyOf(key))) {
          notes.set(keyOf(key), key)
          void keepTrying(key)
        }
        throw error
      }
    },
    async settle(payer) {
      for (const key of notes.values()) if (key.payer === payer) await settle(key)
    },
  }
}
