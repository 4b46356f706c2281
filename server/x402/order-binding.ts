/**
 * The extension `order-binding`: the wall announces it in its terms of version 2, and a payer that binds its nonce to
 * its order sends the salt. A client that only repeats the announcement has not bound anything.
 */

import { getMember } from '../../shared/json.ts'
import { SALT_PATTERN } from '../../shared/order.ts'

const NAME = 'order-binding'

/** The announcement in a demand. `salt` is the field that a payer adds to `info`. */
export const orderBinding = {
  [NAME]: {
    info: { version: '1' },
    schema: {
      type: 'object',
      properties: { version: { type: 'string', const: '1' }, salt: { type: 'string', pattern: SALT_PATTERN } },
    },
  },
}

/** The data that a payer adds to the `extensions` of its payload. */
export const toSaltExtension = (salt: string) => ({ [NAME]: { info: { salt } } })

/**
 * The salt in the `extensions` of a payload, if a client sends one. A salt that is not a string is read as an empty
 * string, which fits no order.
 */
export function readSalt(extensions: unknown): string | undefined {
  const salt = getMember(getMember(getMember(extensions, NAME), 'info'), 'salt')
  if (salt === undefined) return undefined
  return typeof salt === 'string' ? salt : ''
}
