/**
 * Remembers payments that were unspent when they were refused, which the ledger does not know. A facilitator has seen such a
 * payment and may settle it later, and its payer was told to send it again.
 */

import { lru } from '../../shared/lru.ts'
import { unpainted } from '../domain/purchase/listing.ts'
import { isSamePayment, keyOf, type Payment } from '../domain/purchase/payment.ts'
import type { Landed, Order } from '../domain/purchase/purchase.ts'
import type { Clock } from '../ports.ts'

type Asked = Pick<Order, 'target' | 'payment' | 'listing'>

export type SeenPayments = {
  /** Remembers a client's payment and the height at which it was first seen unspent. */
  note(request: Asked | undefined, head: bigint): void
  /** Finds exactly this payment. */
  find(payment: Payment): Landed | undefined
}

// No payment is good for longer.
const REMEMBERED_MS = 10 * 60_000

// Anybody can sign payments without end.
const REMEMBERED_MAX = 10_000

/** Remembers in memory, no longer than a payment can be valid. */
export function seenPayments(clock: Clock): SeenPayments {
  const remembered = lru<string, { readonly seen: Landed; readonly until: number }>(REMEMBERED_MAX)
  const find = (payment: Payment) => {
    const known = remembered.get(keyOf(payment))
    if (known === undefined || clock.elapsed() >= known.until) return undefined
    const { seen } = known
    return isSamePayment(seen.payment, payment) ? seen : undefined
  }
  return {
    find,
    note(request, head) {
      if (request === undefined || 'code' in request.listing || find(request.payment) !== undefined) return
      const { target, payment, listing } = request
      const seen = { target, payment, listing: unpainted(listing), head }
      remembered.set(keyOf(payment), { seen, until: clock.elapsed() + REMEMBERED_MS })
    },
  }
}
