/** Decides whether a payment goes on, and when, before any work is done for it. */

import { type Failure, StoreUnavailable } from '../../domain/failure.ts'
import type { Payment } from '../../domain/purchase/payment.ts'
import type { Ledger, Wallets } from '../../ports.ts'
import type { RateLimits } from '../../wall/rate-limits.ts'
import type { FairQueue } from './fair-queue.ts'

type AdmissionDeps = {
  readonly ledger: Pick<Ledger, 'find'>
  readonly wallets: Pick<Wallets, 'signedPayment'>
  readonly limits: RateLimits
  readonly queue: FairQueue
}

/** Resolves when a payment sent from an address may go on, or with the refusal. */
export type AdmitPayment = (payment: Payment, address: string) => Promise<Failure | undefined>

/**
 * Makes the admission of payments:
 *
 * - A payment that the ledger knows is never refused, and waits like any other request: sending it again is free. The same is
 *   true of every payment while the ledger does not respond; the purchase then says so.
 * - A new payment signed by its payer comes before other requests. After too many rejected payments from its address it has
 *   smaller budgets, and waits like any other request.
 * - Every other payment waits like any other request, and is refused after too many rejected ones from its address.
 */
export function paymentAdmission({ ledger, wallets, limits, queue }: AdmissionDeps): AdmitPayment {
  return async (payment, address) => {
    if (await mayBeKnown(ledger, payment)) {
      await queue.knownPaymentTurn(address)
      return undefined
    }
    const spent = limits.check('payments', address)
    const isSigned = (await wallets.signedPayment(payment)) === 'signed'
    if (spent === undefined && isSigned) {
      await queue.newPaymentTurn(address)
      return undefined
    }
    if (spent !== undefined) {
      if (!isSigned) return spent
      const beyond = limits.take('wallet payments', payment.payer) ?? limits.take('signed payments', address)
      if (beyond !== undefined) return beyond
    }
    return await queue.turn(address)
  }
}

async function mayBeKnown({ find }: AdmissionDeps['ledger'], payment: Payment): Promise<boolean> {
  try {
    return (await find(payment)) !== undefined
  } catch (error) {
    if (error instanceof StoreUnavailable) return true
    throw error
  }
}
