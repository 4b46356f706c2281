import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { jwtVerify } from 'jose'
import { createCoinbaseAuth } from '../../../server/adapters/facilitator/coinbase.ts'

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ed = generateKeyPairSync('ed25519')

const exportPem = (type: 'sec1' | 'pkcs8') => ec.privateKey.export({ type, format: 'pem' }).toString()

/** A seed and its public key, in the form in which Coinbase issues Ed25519 keys. */
function exportSeedAndKey({ privateKey }: { readonly privateKey: KeyObject }): string {
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' })
  return Buffer.concat([d, x].map((half) => Buffer.from(half, 'base64url'))).toString('base64')
}

const VERIFY = 'https://api.cdp.coinbase.com/platform/v2/x402/verify'

describe('a call to Coinbase’s facilitator', () => {
  test.each([
    ['an EC key', exportPem('pkcs8'), ec.publicKey, 'ES256'],
    ['an EC key in the older format', exportPem('sec1'), ec.publicKey, 'ES256'],
    ['an EC key on one line', exportPem('pkcs8').replaceAll('\n', String.raw`\n`), ec.publicKey, 'ES256'],
    ['an Ed25519 key', exportSeedAndKey(ed), ed.publicKey, 'EdDSA'],
  ])(
    'a call to Coinbase’s facilitator has a token signed with %s, which is valid for this call only and for two minutes',
    async (_, secret, publicKey, alg) => {
      const { Authorization = '' } = await createCoinbaseAuth({ id: 'organizations/1/apiKeys/2', secret })(
        'POST',
        VERIFY,
      )
      expect(Authorization).toStartWith('Bearer ')
      const { payload, protectedHeader } = await jwtVerify(Authorization.slice('Bearer '.length), publicKey)
      const { iat = 0 } = payload
      expect(payload).toEqual({
        sub: 'organizations/1/apiKeys/2',
        iss: 'cdp',
        uris: ['POST api.cdp.coinbase.com/platform/v2/x402/verify'],
        iat,
        nbf: iat,
        exp: iat + 120,
      })
      const nonce = expect.stringMatching(/^[0-9a-f]{32}$/)
      expect(protectedHeader).toEqual({ alg, kid: 'organizations/1/apiKeys/2', typ: 'JWT', nonce })
    },
  )

  test('no two tokens for Coinbase are the same', async () => {
    const authorize = createCoinbaseAuth({ id: 'key', secret: exportSeedAndKey(ed) })
    expect(await authorize('POST', VERIFY)).not.toEqual(await authorize('POST', VERIFY))
  })
})

test('a request to any address but that of the Coinbase facilitator gets no token for Coinbase', async () => {
  const authorize = createCoinbaseAuth({ id: 'key', secret: exportSeedAndKey(ed) })
  for (const address of [
    'https://facilitator.example/verify',
    'http://api.cdp.coinbase.com/platform/v2/x402/verify',
    'https://api.cdp.coinbase.com.example/verify',
    'https://api.cdp.coinbase.com:8443/verify',
    'https://api.cdp.coinbase.com@facilitator.example/verify',
  ])
    expect(await authorize('POST', address)).toEqual({})
})

test('the error about an invalid Coinbase secret contains no part of the secret', () => {
  for (const secret of ['hush', '-----BEGIN PRIVATE KEY-----\nhush\n-----END PRIVATE KEY-----', 'A'.repeat(80)]) {
    const createAuth = () => createCoinbaseAuth({ id: 'key', secret })
    expect(createAuth).toThrow('CDP_API_KEY_SECRET is neither')
    expect(createAuth).not.toThrow(/hush|AAAA/)
  }
})
