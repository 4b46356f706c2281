/** An order with its known nonce, so that clients can check their own code. A test verifies the nonce. */

import { type Order, formatOrderText } from '../../../shared/order.ts'

const ORDER: Order = {
  host: 'wall.example',
  block: '80,45',
  name: 'Ada',
  message: 'hello, wall',
  px: '0f'.repeat(100),
}

export const ORDER_VECTOR = {
  message: formatOrderText(ORDER),
  salt: '0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',
  nonce: '0x50584f31736cae20b4252c30970be7e2d9436a2473d931ea6514c754715f0c94',
} as const
