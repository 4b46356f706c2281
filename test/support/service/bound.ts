/** Payments that are bound to an order, as a client that supports `order-binding` makes them. */

import type { Payment } from '../../../server/domain/purchase/payment.ts'
import { type Order, computeOrderNonce, formatOrderText } from '../../../shared/order.ts'
import { toHash } from '../samples.ts'
import { HOST } from './wall.ts'

/** The same payment, bound to an order of the wall of the tests. Its nonce becomes the salt. */
export function bindPayment(order: Omit<Order, 'host'>, payment: Payment, host = HOST): Payment {
  const salt = payment.nonce
  return { ...payment, nonce: computeOrderNonce(formatOrderText({ host, ...order }), salt), salt }
}

/** The same payment after somebody removed the salt in transit. */
export function stripBinding(payment: Payment): Payment {
  const { salt: _, ...rest } = payment
  return rest
}

/** A salt that fits no order. */
export const OTHER_SALT = toHash(0xdead)
