/** Sells to clients: within the time of a connection, and not to those whose payments were refused too often. */

import { REPEAT } from '../domain/advice.ts'
import type { Failure, FailureCode } from '../domain/failure.ts'
import type { Address, Payment } from '../domain/purchase/payment.ts'
import { type Outcome, refused } from '../domain/purchase/purchase.ts'
import { retryLater } from '../domain/purchase/refusals.ts'
import type { Ledger, Wallets } from '../ports.ts'
import { withTimeout } from '../times.ts'
import type { RateLimits } from '../wall/rate-limits.ts'
import type { BuyRequest } from './purchase-run.ts'
import type { Seller } from './seller.ts'

/** Who buys: the client's address, and a signal that aborts when it hangs up. */
export type Buyer = { readonly address: string; readonly signal: AbortSignal }

/** What selling to clients needs. `ended` is told how each purchase ended, however long it took. */
export type LimitedSellerDeps = {
  readonly seller: Seller
  readonly ledger: Pick<Ledger, 'find'>
  readonly wallets: Wallets
  readonly limits: RateLimits
  readonly ended?: ((payer: Address, outcome: Outcome) => void) | undefined
}

/** Buys for a client. */
export type SellTo = (buyer: Buyer, request: BuyRequest) => Promise<Outcome>

// Bun closes an idle connection after 255 s. A settlement takes 200 s at most, but requests with the same payment and
// different listings wait for each other.
const TIMEOUT_MS = 240_000

/**
 * Never turns away a payment that the ledger knows. If others at the same address send invalid payments, a payment that its
 * payer has signed still passes, within a budget of its own. A purchase that takes longer than `timeoutMs` goes on, and counts
 * its client as disconnected.
 */
export function limitedSeller(deps: LimitedSellerDeps, timeoutMs: number = TIMEOUT_MS): SellTo {
  const { seller, ledger, wallets, limits, ended } = deps
  const turnedAway = async (address: string, payment: Payment): Promise<Failure | undefined> => {
    const spent = limits.check('payments', address)
    if (spent === undefined || (await ledger.find(payment)) !== undefined) return undefined
    if ((await wallets.signedPayment(payment)) !== 'signed') return spent
    return limits.take('wallet payments', payment.payer) ?? limits.take('signed payments', address)
  }
  return async ({ address, signal }, { target, payment, listing }) => {
    const refusal = await turnedAway(address, payment)
    if (refusal !== undefined) return refused(refusal)
    const buy = async (late: AbortSignal) => {
      const outcome = await seller.buy(target, payment, listing, AbortSignal.any([signal, late]))
      ended?.(payment.payer, outcome)
      return outcome
    }
    const outcome = await withTimeout(timeoutMs, buy, refused(notYet()))
    // Only what the payment itself is at fault for counts.
    if (outcome.kind === 'refused' && ownFaults.has(outcome.failure.code)) limits.take('payments', address)
    return outcome
  }
}

const ownFaults: ReadonlySet<FailureCode> = new Set(['payment_required', 'order_mismatch'])

const notYet = () =>
  retryLater('settlement_unknown', `This purchase takes longer than a connection can stay open. ${REPEAT}`)
