/** Minimal payments, listings and terms for tests of purchases, equal except for what a test passes in. */

import type { AreaPicture, Listing } from '../../../server/domain/purchase/listing.ts'
import type { Address, Hash, Payment, Terms, UnixSeconds } from '../../../server/domain/purchase/payment.ts'
import { PIXELS_PER_BLOCK, trustPixels, type Pixels } from '../../../shared/pixels.ts'
import { BLOCK_SIZE, parseCoord, type BlockIndex } from '../../../shared/wall.ts'

export const TERMS: Terms = {
  network: 'eip155:8453',
  asset: `0x${'a5'.repeat(20)}`,
  payTo: `0x${'b0'.repeat(20)}`,
  amount: 1_000_000n,
}

export const PLAIN: Listing = { name: 'Ada', framework: null, message: null, link: null, pixels: null, painter: null }

/** A picture of one colour for an area of `w` by `h` blocks, sent as a readable or an unreadable file. */
export const createPicture = (
  { w, h }: { readonly w: number; readonly h: number },
  isReadable: boolean,
  colour = 0,
): AreaPicture => ({
  sent: { kind: 'file', bytes: Uint8Array.of(isReadable ? 1 : 0, colour) },
  plan: { width: w * BLOCK_SIZE, height: h * BLOCK_SIZE, fit: 'cover', dither: 'none', background: '#000000' },
})

/** The pixels of a block of one colour. */
export const createPixels = (colour: number): Pixels => trustPixels(new Uint8Array(PIXELS_PER_BLOCK).fill(colour), 1)

/** A signature that the model wallets accept as the payer's own. */
export const SIGNED = '0x01'

/** A forged signature. */
export const FORGED = '0x00'

/** The block at a coordinate of the wall. */
export function parseBlockOrThrow(coord: string): BlockIndex {
  const block = parseCoord(coord)
  if (block === undefined) throw new RangeError(`${coord} is not on the wall`)
  return block
}

export const toAddress = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`

export const toHash = (number: number): Hash => `0x${number.toString(16).padStart(64, '0')}`

/** A signed payment that matches the terms and is valid until `validBefore`. */
export function createModelPayment(
  payer: Address,
  nonce: number,
  validBefore: UnixSeconds,
  terms: Terms = TERMS,
): Payment {
  return {
    payer,
    nonce: toHash(nonce),
    to: terms.payTo,
    amount: terms.amount,
    validAfter: 0n,
    validBefore,
    signature: SIGNED,
    accepted: { ...terms, scheme: 'exact' },
  }
}

/** Whether a message says that a payment was not charged. */
export const deniesCharge = (message: string): boolean =>
  /not charged|nothing (more )?was charged|charged (and claimed )?nothing/i.test(message)

/** The codes of responses that say that nothing was charged, or that ask for payment. */
export const DENIALS: ReadonlySet<string> = new Set([
  'payment_required',
  'facilitator_unavailable',
  'block_taken',
  'purchase_pending',
  'wall_busy',
  'sold_out',
  'no_room',
  'invalid_listing',
  'invalid_image',
  'server_busy',
])
