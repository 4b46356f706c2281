/**
 * Authentication for Coinbase's facilitator: each call has its own token, valid for that call only, for two minutes.
 */

import { createPrivateKey, randomBytes, type KeyObject } from 'node:crypto'
import type { Authorize } from './facilitator.ts'

/** An operator's key in Coinbase's format. */
export type CdpKey = { readonly id: string; readonly secret: string }

/** Thrown for an invalid secret; the message contains no part of it. */
export class UnusableKey extends Error {
  override name = 'UnusableKey'
}

const COINBASE = 'https://api.cdp.coinbase.com'

const GOOD_FOR = '2m'

/** Makes a function that signs calls to Coinbase, but no other calls, with the operator's key. Throws `UnusableKey`. */
export function createCoinbaseAuth({ id, secret }: CdpKey): Authorize {
  const { alg, key } = parseKey(secret)
  return async (method, address) => {
    const { origin, host, pathname } = new URL(address)
    if (origin !== COINBASE) return {}
    // The signing package is loaded only if there is a key.
    const { SignJWT } = await import('jose')
    const token = await new SignJWT({ uris: [`${method} ${host}${pathname}`] })
      .setProtectedHeader({ alg, kid: id, typ: 'JWT', nonce: randomBytes(16).toString('hex') })
      .setSubject(id)
      .setIssuer('cdp')
      .setIssuedAt()
      .setNotBefore(new Date())
      .setExpirationTime(GOOD_FOR)
      .sign(key)
    return { Authorization: `Bearer ${token}` }
  }
}

const ED25519_BYTES = 64

/** Parses an EC key in PEM, or an Ed25519 seed and its public key in base64. */
function parseKey(secret: string): { readonly alg: 'ES256' | 'EdDSA'; readonly key: KeyObject } {
  const bytes = Buffer.from(secret, 'base64')
  try {
    if (secret.includes('PRIVATE KEY')) return { alg: 'ES256', key: createPrivateKey(secret.replaceAll('\\n', '\n')) }
    if (bytes.length !== ED25519_BYTES) throw new RangeError('an Ed25519 key has 64 bytes')
    const encodeHalf = (from: number, to: number) => bytes.subarray(from, to).toString('base64url')
    const jwk = { kty: 'OKP', crv: 'Ed25519', d: encodeHalf(0, 32), x: encodeHalf(32, 64) }
    return { alg: 'EdDSA', key: createPrivateKey({ key: jwk, format: 'jwk' }) }
  } catch {
    throw new UnusableKey('CDP_API_KEY_SECRET is neither an EC key in PEM nor an Ed25519 key of 64 bytes in base64')
  }
}
