/** Payments that moved the money while no block was held for them, and that are not written to the store yet. */

import { StaleWriteError } from '../domain/failure.ts'
import { keyOf, type Hash, type PaymentKey } from '../domain/purchase/payment.ts'
import type { Landed } from '../domain/purchase/purchase.ts'
import type { Clock, Ledger } from '../ports.ts'

export type LandedPayments = Map<string, { readonly purchase: Landed; readonly tx: Hash }>

type LandedDeps = { readonly landed: LandedPayments; readonly ledger: Ledger; readonly clock: Clock }

/** Writes that a payment landed, if that is still to be done. Throws `StoreUnavailable`; the payment is then kept. */
export async function writeLanded({ landed, ledger, clock }: LandedDeps, key: PaymentKey): Promise<void> {
  const late = landed.get(keyOf(key))
  if (late === undefined) return
  try {
    await ledger.fulfilLatePayment(late.purchase, late.tx, clock.now())
  } catch (error) {
    // Another run has written it.
    if (!(error instanceof StaleWriteError)) throw error
  }
  landed.delete(keyOf(key))
}
