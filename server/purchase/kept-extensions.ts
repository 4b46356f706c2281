/** What clients say to extensions of x402, kept from verification to settlement: what is stored of a payment is what was signed. */

import { lru } from '../../shared/lru.ts'
import { keyOf, type Extensions, type Payment } from '../domain/purchase/payment.ts'

// A payment is settled seconds after it was verified.
const KEPT_MAX = 1024

/** Gives a payment the extensions back that came with it when it was last seen with any. */
export function keptExtensions(): (payment: Payment) => Payment {
  const kept = lru<string, Extensions>(KEPT_MAX)
  return (payment) => {
    const key = keyOf(payment)
    const extensions = payment.extensions ?? kept.get(key)
    if (extensions === undefined) return payment
    kept.set(key, extensions)
    return { ...payment, extensions }
  }
}
