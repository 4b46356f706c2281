/**
 * Signed bodies to check a signer with, as shown in the guide and the OpenAPI document. Tests verify the signatures.
 */

import { PALETTE } from '../../shared/palette.ts'
import { formatRegisterMessage } from '../../shared/signing.ts'
import { TEST_VECTOR } from '../domain/wall/signed-fields.ts'

const HOST = 'wall.example'
const TS = 1_800_000_000_000
const NAMES = { name: 'Ada' }

/** The edit of the test vector: host, block, and the body with the signature. */
export const WORKED_EXAMPLE = {
  host: HOST,
  coord: '80,45',
  body: { ts: TS, signature: TEST_VECTOR.signature, message: 'hello again', link: null },
} as const

/**
 * A repaint of the block in `WORKED_EXAMPLE`, by signing in with the same key: the body, and the content of the header.
 */
export const WORKED_SIGN_IN = {
  path: '/blocks/80,45',
  body: '{"message":"hello again"}',
  header: {
    domain: HOST,
    address: TEST_VECTOR.address,
    statement: `Repaint block 80,45 (message) on ${HOST}`,
    uri: `https://${HOST}/blocks/80,45`,
    version: '1',
    chainId: 'eip155:8453',
    type: 'eip191',
    nonce: '000102030405060708090a0b0c0d0e0f',
    issuedAt: '2027-01-15T08:00:00.000Z',
    expirationTime: '2027-01-15T08:05:00.000Z',
    requestId: 'e77516b9110d14b67e4b9869b927c44fccf0ac306b354a3c1eb0bc7fc9993e38',
    signature:
      '0x829fdca512b3b1594f86609c67e8635dfe865a1fca634deaf53d4c92d87eb9c60946d75ef7135ebf9f4cb1d39f41b88b53c2d6676905fbdea5aa99e28d7d64a71b',
  },
} as const

/** A registration signed with the key of the test vector. */
export const WORKED_REGISTRATION = {
  message: formatRegisterMessage(HOST, TEST_VECTOR.address, TS, NAMES),
  body: {
    wallet: TEST_VECTOR.address,
    ts: TS,
    signature:
      '0xcd5589796a4fbcb779d47d94f208a3fe085d621dfa63f3e9fc523267447eeaf74ec8d12db9e3ab219249d2f7f2b64e6b931c9e757442fc4b0c554b2517a6469b1c',
    ...NAMES,
  },
} as const

const GREYS_FROM = 216

const pure = {
  black: '#000000',
  white: '#ffffff',
  red: '#ff0000',
  green: '#00ff00',
  blue: '#0000ff',
  yellow: '#ffff00',
}

/** A colour's palette index in two hex digits. */
function formatPaletteIndex(colour: string): string {
  const index = PALETTE.indexOf(colour)
  if (index < 0) throw new RangeError(`${colour} is not in the palette`)
  return index.toString(16).padStart(2, '0')
}

/** How to compute a colour's palette index. */
export const INDEX_RULE = `36r + 6g + b with r, g and b from 0 to 5, or a grey from ${GREYS_FROM} (dark) to ${PALETTE.length - 1} (light)`

/** The pure colours with their palette indices in hex. */
export const PURE_COLOURS = Object.entries(pure)
  .map(([name, colour]) => `${name} ${formatPaletteIndex(colour)}`)
  .join(', ')
