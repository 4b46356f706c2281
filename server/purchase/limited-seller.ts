/** Sells to clients within the time that a connection can stay open. */

import { REPEAT } from '../domain/advice.ts'
import type { FailureCode } from '../domain/failure.ts'
import type { Address } from '../domain/purchase/payment.ts'
import type { Outcome } from '../domain/purchase/purchase.ts'
import { createRetryFailure } from '../domain/purchase/refusals.ts'
import { runWithTimeout } from '../times.ts'
import type { RateLimits } from '../wall/rate-limits.ts'
import type { BuyRequest } from './purchase-run.ts'
import type { Seller } from './seller.ts'

/** The buying client: its network address, and a signal that aborts when it disconnects. */
export type Buyer = { readonly address: string; readonly signal: AbortSignal }

/**
 * The dependencies of selling to clients. `onEnded` is called with the outcome of each purchase, however long it took.
 */
export type LimitedSellerDeps = {
  readonly seller: Seller
  readonly limits: RateLimits
  readonly onEnded?: ((payer: Address, outcome: Outcome) => void) | undefined
}

/** Buys for a client. */
export type SellTo = (buyer: Buyer, request: BuyRequest) => Promise<Outcome>

// Bun closes an idle connection after 255 s. A settlement takes 200 s at most, but requests with the same payment and
// different listings wait for each other.
const TIMEOUT_MS = 240_000

/**
 * Makes the function that sells to clients. It counts rejected payments towards the rate limit of the client's address.
 * A purchase that takes longer than `timeoutMs` continues, but its client counts as disconnected.
 */
export function createLimitedSeller(deps: LimitedSellerDeps, timeoutMs: number = TIMEOUT_MS): SellTo {
  const { seller, limits, onEnded } = deps
  return async ({ address, signal }, { target, payment, listing }) => {
    const buy = async (late: AbortSignal) => {
      const outcome = await seller.buy(target, payment, listing, AbortSignal.any([signal, late]))
      onEnded?.(payment.payer, outcome)
      return outcome
    }
    const outcome = await runWithTimeout(timeoutMs, buy, createTimeoutFailure())
    // Only failures that the payment itself caused count towards the limit.
    if (outcome.kind === 'failure' && ownFaults.has(outcome.code)) limits.take('payments', address)
    return outcome
  }
}

const ownFaults: ReadonlySet<FailureCode> = new Set(['payment_required', 'order_mismatch', 'payer_denied'])

const createTimeoutFailure = () =>
  createRetryFailure('settlement_unknown', `This purchase takes longer than a connection can stay open. ${REPEAT}`)
