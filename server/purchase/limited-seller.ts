/** Buys for clients, and turns away those whose payments were refused too often. */

import type { Failure } from '../domain/failure.ts'
import type { Draft } from '../domain/purchase/listing.ts'
import type { Payment, Target } from '../domain/purchase/payment.ts'
import type { Outcome } from '../domain/purchase/purchase.ts'
import type { Ledger, Wallets } from '../ports.ts'
import type { RateLimits } from '../wall/rate-limits.ts'
import type { Seller } from './seller.ts'

/** What selling within budgets needs. */
export type LimitedSellerDeps = {
  readonly seller: Seller
  readonly ledger: Pick<Ledger, 'find'>
  readonly wallets: Wallets
  readonly limits: RateLimits
}

/** Buys for the client at an address; `signal` aborts when it hangs up. */
export type SellTo = (
  address: string,
  target: Target,
  payment: Payment,
  listing: Draft | Failure,
  signal: AbortSignal,
) => Promise<Outcome>

/**
 * Never turns away a payment that the ledger knows. If others at the same address send invalid payments, a payment that its
 * payer has signed still passes, within a budget of its own.
 */
export function limitedSeller({ seller, ledger, wallets, limits }: LimitedSellerDeps): SellTo {
  const turnedAway = async (address: string, payment: Payment): Promise<Failure | undefined> => {
    const spent = limits.check('payments', address)
    if (spent === undefined || (await ledger.find(payment)) !== undefined) return undefined
    if ((await wallets.signedPayment(payment)) !== 'signed') return spent
    return limits.take('wallet payments', payment.payer) ?? limits.take('signed payments', address)
  }
  return async (address, target, payment, listing, signal) => {
    const refusal = await turnedAway(address, payment)
    if (refusal !== undefined) return { kind: 'refused', failure: refusal }
    const outcome = await seller.buy(target, payment, listing, signal)
    // Only what the payment itself is at fault for counts.
    if (outcome.kind === 'refused' && outcome.failure.code === 'payment_required') limits.take('payments', address)
    return outcome
  }
}
