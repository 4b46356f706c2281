/**
 * Orders that nobody can alter. An EIP-3009 signature covers a payer, a payee, an amount, a time and a nonce of the
 * payer's choice, but nothing that identifies the purchase. So the nonce identifies the purchase: four bytes mark the
 * nonce as bound, and the rest is a digest of the order's text and a published salt. The construction,
 * keccak256(resource ‖ salt), is that of x402-foundation/x402 issue 3226.
 */

import { bytesToHex, concatBytes, hexToBytes, keccak256, stringToBytes } from 'viem/utils'
import { formatField } from './signing.ts'

/** The first four bytes of every bound nonce: `PXO1` in ASCII. */
export const ORDER_NONCE_PREFIX = '0x50584f31'

// The prefix and this many bytes make up the 32 bytes of a nonce.
const DIGEST_BYTES = 28

/** A salt: 0x and 64 hex digits. */
export const SALT_PATTERN = '^0x[0-9a-fA-F]{64}$'

const saltPattern = new RegExp(SALT_PATTERN)

/** Whether `text` is a salt. */
export const isSalt = (text: string): boolean => saltPattern.test(text)

/**
 * An order, after URL or JSON decoding. An absent field was not sent. Exactly one of `block` and `area` is present, and
 * at most one picture.
 */
export type Order = {
  readonly host: string // the service's own host name, without a port
  readonly block?: string // `col,row` or `next`, of an order to buy a block
  readonly area?: string // `col,row,WxH` or `next,WxH`, of an order to buy an area, which may be 1x1
  readonly name?: string
  readonly framework?: string
  readonly message?: string
  readonly link?: string
  readonly px?: string // of a block: 200 lower-case hex digits
  readonly pixels?: string // of an area: `formatPictureDigest` of the palette indices, row by row
  readonly image?: string // of an area: `formatPictureDigest` of the file, then fit, then dither, separated by commas
  readonly painter?: string // an address in lower case
}

const TEXTS = ['name', 'framework', 'message', 'link'] as const
const PICTURES = ['px', 'pixels', 'image'] as const

const VERB = 'buy v1'

/**
 * The text of an order. Throws a `RangeError` if a field contains a line break, because then another order could have
 * the same text.
 */
export function formatOrderText(order: Order): string {
  const place = order.area === undefined ? `block=${order.block ?? ''}` : `area=${order.area}`
  const picture = PICTURES.find((kind) => order[kind] !== undefined) ?? 'px'
  const fields = [...TEXTS, picture, 'painter'] as const
  const lines = [order.host, VERB, place, ...fields.flatMap((field) => formatField(field, order[field]))]
  if (lines.some((line) => /[\r\n]/.test(line))) throw new RangeError('a member of an order contains a line break')
  return lines.join('\n')
}

/** Parses the text of an order; `undefined` if `formatOrderText` could not have written it. */
export function parseOrderText(text: string): Order | undefined {
  const [host = '', , place = '', ...lines] = text.split('\n')
  const order: Record<string, string> & { host: string } = { host }
  const members = [place, ...lines.filter((_, at) => at % 2 === 1 && lines[at - 1]?.endsWith('_present=1') === true)]
  for (const member of members) {
    const [name = ''] = member.split('=', 1)
    order[name] = member.slice(name.length + 1)
  }
  return matchesText(order, text) ? order : undefined
}

function matchesText(order: Order, text: string): boolean {
  try {
    return formatOrderText(order) === text
  } catch {
    return false
  }
}

/** A picture as an order's text contains it: `sha256:` and the 64 lower-case hex digits of its SHA-256. */
export const formatPictureDigest = (sha256Hex: string): string => `sha256:${sha256Hex}`

/**
 * The nonce that binds a payment to the order with this text, in lower-case hex. Throws if `salt` is not 32 bytes in
 * hex.
 */
export function computeOrderNonce(text: string, salt: string): `0x${string}` {
  if (!isSalt(salt)) throw new RangeError('a salt must have 32 bytes')
  const digest = keccak256(concatBytes([stringToBytes(text), hexToBytes(salt as `0x${string}`)]), 'bytes')
  return `${ORDER_NONCE_PREFIX}${bytesToHex(digest.subarray(0, DIGEST_BYTES)).slice('0x'.length)}`
}

/** Whether a nonce is marked as bound to an order. */
export const isOrderNonce = (nonce: string): boolean => nonce.toLowerCase().startsWith(ORDER_NONCE_PREFIX)

/** Whether a nonce, in any letter case, binds a payment to the order with this text and salt. */
export const matchesOrder = (nonce: string, text: string, salt: string): boolean =>
  isSalt(salt) && computeOrderNonce(text, salt) === nonce.toLowerCase()
