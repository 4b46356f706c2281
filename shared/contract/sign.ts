/**
 * Help with signing: the exact text to sign for an edit of a block or an area, a registration or a change of painter,
 * and a test vector for signers.
 */

import { Type, type Static } from '@sinclair/typebox'
import { SALT_PATTERN } from '../order.ts'
import { AreaOrder } from './area-order.ts'
import { AreaText } from './area.ts'
import { ListingQuery } from './block.ts'
import { Closed, CoordText, OptionalText } from './kinds.ts'
import { TargetText } from './preview.ts'

/** A field is set only if its key is present; `clear` lists the fields to set to null. */
export const SignQuery = Type.Object({
  kind: Type.Union(
    [Type.Literal('set_pixels'), Type.Literal('set_area'), Type.Literal('register'), Type.Literal('set_painter')],
    {
      description:
        'set_pixels: repaint a block you own. set_area: repaint an area you own. register: name your wallet. set_painter: name a painter for your wallet.',
    },
  ),
  coord: Type.Optional({ ...CoordText, description: 'set_pixels: the block, `col,row`.' }),
  area: Type.Optional({ ...AreaText, description: 'set_area: the area, `col,row,WxH`.' }),
  pixels: OptionalText(
    'set_pixels: 200 hex characters. set_area: the palette indices in base64, or their SHA-256 as 64 lower-case hex digits; with the hash, add the base64 to the body yourself.',
  ),
  message: OptionalText('set_pixels, set_area: 1 to 140 printable characters.'),
  link: OptionalText('set_pixels, set_area: an https URI of at most 200 characters.'),
  wallet: OptionalText('register and set_painter: your address.'),
  name: OptionalText('register: 1 to 40 printable characters.'),
  framework: OptionalText('register: 1 to 32 printable characters.'),
  painter: OptionalText('set_painter: the address of the key that may repaint.'),
  clear: Type.Optional(
    Type.String({
      description: 'Fields to set to null, comma-separated: message and link; name and framework; or painter.',
      examples: ['message,link'],
    }),
  ),
  ts: Type.Optional(Type.Integer({ minimum: 0, description: 'Unix milliseconds; defaults to now.' })),
})
export type SignQuery = Static<typeof SignQuery>

const Hex = (description: string) => Type.String({ pattern: '^0x[0-9a-fA-F]+$', description })

export const Signing = Type.Object({
  message: Type.String({
    description: 'Sign exactly this with EIP-191 personal_sign. Its lines are separated by line feeds.',
  }),
  digest: Hex('EIP-191 hash of the message: keccak-256 of the prefix, the length in bytes and the message.'),
  ts: Type.Integer({ description: 'The time in the message, Unix milliseconds.' }),
  validUntil: Type.Integer({ description: 'Latest time at which the request may arrive, Unix milliseconds.' }),
  request: Type.Object(
    {
      method: Type.Literal('PUT'),
      url: Type.String({ format: 'uri' }),
      body: Type.Record(Type.String(), Type.Unknown()),
    },
    { description: 'The request to send after you add `signature` to the body.' },
  ),
  testVector: Type.Object(
    {
      privateKey: Hex('A publicly known key for this test. Never use it for anything else.'),
      address: Hex('The address of the test key.'),
      message: Type.String(),
      digest: Hex('EIP-191 digest of the message.'),
      signature: Hex('The signature that your signer must produce from the key and message.'),
    },
    { description: 'A fixed example to check your own signer with.' },
  ),
})
export type Signing = Static<typeof Signing>

const { at, w, h, ...ofArea } = AreaOrder.properties

/**
 * An order to bind a payment to, and the salt for it. An order with `w` or `h` is for an area; any other order is for a
 * block.
 */
export const OrderToSign = Closed({
  coord: Type.Optional({ ...TargetText, description: 'For a block: `next` (default) or `col,row`.' }),
  px: ListingQuery.properties.px,
  at,
  w: Type.Optional({ ...w, description: 'For an area: width in blocks of 10 pixels.' }),
  h: Type.Optional({ ...h, description: 'For an area: height in blocks of 10 pixels.' }),
  ...ofArea,
  salt: Type.Optional(
    Type.String({ pattern: SALT_PATTERN, description: '32 bytes in hex with 0x; by default the server makes one.' }),
  ),
})
export type OrderToSign = Static<typeof OrderToSign>

const OrderVector = {
  message: Type.String({ description: 'The text of the order. Its lines are separated by line feeds.' }),
  salt: Hex('32 bytes.'),
  nonce: Hex('0x50584f31, then the first 28 bytes of keccak256 of the text in UTF-8 followed by the salt.'),
}

export const OrderSigning = Type.Object({
  ...OrderVector,
  extensions: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Members to add to `extensions` of the payment payload, next to the existing ones.',
  }),
  testVector: Type.Object(OrderVector, { description: 'A fixed order to check your own code with.' }),
})
export type OrderSigning = Static<typeof OrderSigning>
