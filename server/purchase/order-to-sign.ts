/** The data that binds a payment to an order: its text, a salt and the nonce to sign. */

import { ListingQuery } from '../../shared/contract/block.ts'
import { type OrderSigning, OrderToSign } from '../../shared/contract/sign.ts'
import { isSalt, computeOrderNonce, formatOrderText } from '../../shared/order.ts'
import { createFailure, isFailure, type Failure } from '../domain/failure.ts'
import type { PurchaseOrder } from '../domain/purchase/listing.ts'
import { ORDER_VECTOR } from '../domain/purchase/order-vector.ts'
import type { Reader } from '../read.ts'
import { toSaltExtension } from '../x402/order-binding.ts'
import { toOrder } from './order-binding.ts'
import { LISTING_KEYS, readAreaOrder, readListing, readTarget, findUnknownField } from './read-order.ts'

/** A valid order, and the salt that its sender gave. */
export type OrderWithSalt = { readonly order: PurchaseOrder; readonly salt: string | undefined }

/** Reads the order of a block, or of an area if a size is given. Refuses an order that a purchase would refuse. */
export const readOrderToSign: Reader<OrderWithSalt> = Object.assign(readOrder, { schema: OrderToSign })

function readOrder(value: unknown): OrderWithSalt | Failure {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return createFailure('invalid_body', SHAPE)
  const { salt, ...said }: Readonly<Record<string, unknown>> = { ...value }
  if (salt !== undefined && (typeof salt !== 'string' || !isSalt(salt)))
    return createFailure('invalid_body', 'salt must be 0x followed by 64 hex digits.')
  const order = 'w' in said || 'h' in said ? readAreaOrder(said) : readBlockOrder(said)
  if (isFailure(order)) return order
  if (isFailure(order.listing)) return order.listing
  return { order, salt }
}

function readBlockOrder({ coord = 'next', ...said }: Readonly<Record<string, unknown>>): PurchaseOrder | Failure {
  const target = readTarget(coord, 1, 1)
  if (isFailure(target)) return target
  return findUnknownField(ListingQuery, said) === undefined
    ? { target, isArea: false, listing: readListing(said) }
    : createFailure('invalid_body', SHAPE)
}

const SHAPE = `Send a JSON object. For a block: coord ("next" or "col,row") and any of ${LISTING_KEYS.join(', ')}. For an area: the body of POST /areas. Both may have a salt. No other fields are allowed.`

const SALT_BYTES = 32

const createSalt = () => `0x${crypto.getRandomValues(new Uint8Array(SALT_BYTES)).toHex()}`

/**
 * The text of an order from the wall at `host`, and the nonce that binds a payment to the order. The nonce is made with
 * the given salt or a new one.
 */
export function createOrderSigning(
  { order: { target, isArea, listing }, salt = createSalt() }: OrderWithSalt,
  host: string,
): OrderSigning | Failure {
  if (isFailure(listing)) return listing
  const message = formatOrderText(toOrder(target, isArea, listing, host))
  return {
    message,
    salt,
    nonce: computeOrderNonce(message, salt),
    extensions: toSaltExtension(salt),
    testVector: ORDER_VECTOR,
  }
}
