/** Sample payments, listings and edits, valid by default; each argument changes only what a test is about. */

import type { Statement } from '../../server/domain/purchase/balance.ts'
import type { Listing } from '../../server/domain/purchase/listing.ts'
import type { Address, Hash, Payment, Terms } from '../../server/domain/purchase/payment.ts'
import type { Purchase } from '../../server/domain/purchase/purchase.ts'
import type { Edit, Identity } from '../../server/domain/wall/edit.ts'
import type { BlockContent, Change, Profile, SaleChange } from '../../server/domain/wall/log.ts'
import { listAreaBlocks, parseArea, type Area } from '../../shared/area.ts'
import { parsePixels, PIXELS_PER_BLOCK, type Pixels } from '../../shared/pixels.ts'
import { formatCoord, parseCoord, type BlockIndex } from '../../shared/wall.ts'

/** The time of all samples, in milliseconds; it is a whole second. */
export const NOW = 1_800_000_000_000

/** A chain height that no test depends on. */
export const HEAD = 24_000_000n

/** The terms of the sample payments. */
export const TERMS: Terms = {
  network: 'eip155:8453',
  asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  payTo: '0x00000000000000000000000000000000000a11ce',
  amount: 1_000_000n,
}

/** The block at a coordinate that is on the wall. */
export function parseBlockOrThrow(coord: string): BlockIndex {
  const block = parseCoord(coord)
  if (block === undefined) throw new RangeError(`${coord} is not a coordinate of the wall`)
  return block
}

/** The area with the given name. */
export function parseAreaOrThrow(name: string): Area {
  const area = parseArea(name)
  if (area === undefined) throw new RangeError(`${name} is not an area of the wall`)
  return area
}

/** The coordinates of the blocks in a named area, row by row. */
export const listCoords = (name: string): string[] => listAreaBlocks(parseAreaOrThrow(name)).map(formatCoord)

/** A wallet address made from a number. */
export const createWalletAddress = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`

/** A nonce, digest or transaction hash made from a number. */
export const toHash = (number: number): Hash => `0x${number.toString(16).padStart(64, '0')}`

/** The `nonce`-th payment of the `payer`-th wallet, valid around `NOW`. */
export function createTestPayment(payer: number, nonce: number, changes: Partial<Payment> = {}): Payment {
  return {
    payer: createWalletAddress(payer),
    nonce: toHash(nonce),
    to: TERMS.payTo,
    amount: TERMS.amount,
    validAfter: 0n,
    validBefore: BigInt(NOW / 1000 + 300),
    signature: `0x${'5a'.repeat(65)}`,
    accepted: { ...TERMS, scheme: 'exact' },
    ...changes,
  }
}

/** The `number`-th wallet's purchase of the next block, which is held while the payment is in doubt. */
export const createUncertainPurchase = (number: number): Purchase => ({
  payment: createTestPayment(number, number),
  target: 'next',
  block: parseBlockOrThrow('3,4'),
  listing: SILENT,
  head: HEAD,
  state: { kind: 'reserved', uncertain: true, attempt: 1 },
})

/** The statement that the store returns for a wall that has never been paid. */
export const EMPTY_BOOKS: Statement = {
  claimed: 0,
  sales: [],
  credits: [],
  open: [],
  final: [],
  payouts: [],
  payees: [],
  from: undefined,
}

/** A block of one colour. */
export function createPixels(colour: number): Pixels {
  const pixels = parsePixels(new Uint8Array(PIXELS_PER_BLOCK).fill(colour).toHex())
  if ('problem' in pixels) throw new RangeError(pixels.problem)
  return pixels
}

/** A listing without any field. */
export const SILENT: Listing = { name: null, framework: null, message: null, link: null, pixels: null, painter: null }

/** A listing in which every field except `painter` is set; `changes` replace some of the fields. */
export function createTestListing(changes: Partial<Listing> = {}): Listing {
  return {
    name: 'Ada',
    framework: 'loom',
    message: 'hello, wall',
    link: 'https://ada.example/',
    pixels: createPixels(7),
    painter: null,
    ...changes,
  }
}

/** The content of a block without pixels, message or link. */
export const BARE: BlockContent = { pixels: null, message: null, link: null }

/** The profile of an agent without a name or framework. */
export const NOBODY: Profile = { name: null, framework: null }

/**
 * The `number`-th change of a log with only sales: the first agent's purchase of a block, without content; `changes`
 * replace some of the fields.
 */
export const createTestSale = (
  number: number,
  block: BlockIndex,
  changes: Partial<Change & SaleChange> = {},
): Change => ({
  number,
  at: NOW,
  kind: 'sale',
  seq: number,
  block,
  content: BARE,
  agent: 1,
  wallet: createWalletAddress(1),
  profile: NOBODY,
  ...changes,
})

/** The first agent's registration, as a change in a log. */
export const createIdentityChange = (number: number, profile: Profile, at = NOW): Change => ({
  number,
  at,
  kind: 'identity',
  agent: 1,
  profile,
})

/** An owner's edit signed at `NOW`, identified by `digest`; fields that `changes` omits are kept. */
export function createTestEdit(digest: number, changes: Partial<Edit> = {}): Edit {
  const kept = { pixels: undefined, message: undefined, link: undefined, painter: null }
  return { digest: toHash(digest), ts: NOW, ...kept, ...changes }
}

/** A wallet's registration signed at `NOW`, identified by `digest`; fields that `changes` omits are kept. */
export function createTestIdentity(digest: number, changes: Partial<Identity> = {}): Identity {
  return { digest: toHash(digest), ts: NOW, name: undefined, framework: undefined, ...changes }
}
