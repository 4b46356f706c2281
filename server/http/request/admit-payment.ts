/** Decides whether and when to process a payment, before any work is done for it. */

import { type Failure, StoreUnavailable } from '../../domain/failure.ts'
import type { Payment } from '../../domain/purchase/payment.ts'
import type { Ledger, Wallets } from '../../ports.ts'
import type { RateLimits } from '../../wall/rate-limits.ts'
import type { FairQueue } from './fair-queue.ts'

type AdmissionDeps = {
  readonly ledger: Pick<Ledger, 'find'>
  readonly wallets: Pick<Wallets, 'checkPaymentSignature'>
  readonly limits: RateLimits
  readonly queue: Pick<FairQueue, 'waitForKnownPayment' | 'waitForNewPayment'>
}

/** Resolves with `undefined` when a payment from an address may be processed, or else with the refusal. */
export type AdmitPayment = (payment: Payment, address: string) => Promise<Failure | undefined>

/**
 * Creates the function that admits payments:
 *
 * - A payment that the ledger knows is never refused, and waits in line with ordinary requests: resending it is free.
 *   The same applies to every payment while the ledger does not respond; the purchase then reports the failure.
 * - Every other payment waits for its turn among the new payments, because checking its signature takes as long as
 *   processing most requests. After too many rejected payments from its address, it is refused unless its payer signed
 *   it. If it is signed, it is counted against two other budgets, of its payer and of its address.
 */
export function createPaymentAdmission({ ledger, wallets, limits, queue }: AdmissionDeps): AdmitPayment {
  return async (payment, address) => {
    if (await mayBeKnown(ledger, payment)) {
      await queue.waitForKnownPayment(address)
      return undefined
    }
    const busy = await queue.waitForNewPayment(address)
    if (busy !== undefined) return busy
    const spent = limits.check('payments', address)
    if (spent === undefined) return undefined
    if ((await wallets.checkPaymentSignature(payment)) !== 'signed') return spent
    return limits.take('wallet payments', payment.payer) ?? limits.take('signed payments', address)
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
