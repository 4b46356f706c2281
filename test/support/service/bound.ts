/** Payments that are bound to an order, as a client that supports `order-binding` makes them. */

import type { Payment } from '../../../server/domain/purchase/payment.ts'
import { type Order, computeOrderNonce, formatOrderText } from '../../../shared/order.ts'
import { toHash } from '../samples.ts'
import { HOST } from './wall.ts'

/** A copy of the payment, bound to an order on the test wall. The payment's nonce becomes the salt. */
export function bindPayment(order: Omit<Order, 'host'>, payment: Payment, host = HOST): Payment {
  const salt = payment.nonce
  return { ...payment, nonce: computeOrderNonce(formatOrderText({ host, ...order }), salt), salt }
}

/** A copy of the payment without its salt, as if a proxy had removed the salt in transit. */
export function stripBinding(payment: Payment): Payment {
  const { salt: _, ...rest } = payment
  return rest
}

/** A salt that matches no order. */
export const OTHER_SALT = toHash(0xdead)
