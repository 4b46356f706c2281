import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { buildSIWxSchema, createSIWxMessage } from '@x402/extensions/sign-in-with-x'
import { recoverMessageAddress } from 'viem'
import { WORKED_EXAMPLE, WORKED_REGISTRATION, WORKED_SIGN_IN } from '../../../server/discovery/worked-example.ts'
import { ORDER_VECTOR } from '../../../server/domain/purchase/order-vector.ts'
import type { Hash } from '../../../server/domain/purchase/payment.ts'
import { TEST_VECTOR } from '../../../server/domain/wall/signed-fields.ts'
import { createSignInDemand, formatSignInMessage } from '../../../server/x402/sign-in.ts'
import { computeOrderNonce } from '../../../shared/order.ts'
import { formatEditMessage } from '../../../shared/signing.ts'

test('the sign-in in the worked example contains the digest of the request body, has the text that the SDK creates, and is signed by the wallet that it names', async () => {
  const { body, header } = WORKED_SIGN_IN
  expect<string>(header.requestId).toBe(createHash('sha256').update(body).digest('hex'))
  const message = formatSignInMessage(header)
  expect(message).toBe(createSIWxMessage(header as never, header.address))
  expect(await recoverMessageAddress({ message, signature: header.signature })).toBe(header.address)
})

test('the schema that the wall gives for a sign-in equals the schema in the SDK of the sign-in extension', () => {
  const terms = { domain: 'a', uri: 'https://a/', requestId: '', statement: '', chainId: 'eip155:8453' }
  const { extensions } = createSignInDemand(terms, '', 0)
  expect<unknown>(extensions['sign-in-with-x'].schema).toEqual(buildSIWxSchema())
})

test('the edit in the example has the same message as the test vector', () => {
  const { host, coord, body } = WORKED_EXAMPLE
  expect(formatEditMessage(host, coord, body.ts, { message: body.message, link: body.link })).toBe(TEST_VECTOR.message)
})

test('the edit and the registration in the worked examples are signed by the wallet of the test vector', async () => {
  const signed = [
    { message: TEST_VECTOR.message, signature: WORKED_EXAMPLE.body.signature },
    { message: WORKED_REGISTRATION.message, signature: WORKED_REGISTRATION.body.signature },
  ]
  for (const { message, signature } of signed)
    expect(await recoverMessageAddress({ message, signature: signature as Hash })).toBe(TEST_VECTOR.address)
})

test('our code computes the same nonce for the example order as an independent implementation of keccak-256', () => {
  const { message, salt, nonce } = ORDER_VECTOR
  expect<string>(computeOrderNonce(message, salt)).toBe(nonce)
})
