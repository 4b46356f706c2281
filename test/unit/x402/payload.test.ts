import { beforeAll, describe, expect, test } from 'bun:test'
import { encodePaymentSignatureHeader } from '@x402/core/http'
import { appendPaymentIdentifierToExtensions, generatePaymentId } from '@x402/extensions/payment-identifier'
import fc from 'fast-check'
import { isFailure } from '../../../server/domain/failure.ts'
import type { Payment } from '../../../server/domain/purchase/payment.ts'
import { createWallet } from '../../../server/local/wallets.ts'
import { readPayment, readPaymentHeader } from '../../../server/x402/payload.ts'
import { encodeHeader } from '../../../server/x402/receipt.ts'
import { buildDemand, toRequirements } from '../../../server/x402/terms.ts'
import { signPayment } from '../../support/chain/payments.ts'
import { OFFER } from '../../support/offer.ts'
import { TERMS } from '../../support/samples.ts'

const WALLET = createWallet()
const PAYER = WALLET.address

type Json = { [key: string]: unknown }

/** The stock client's payload as plain JSON. */
let stock: { accepted: Json; payload: { authorization: Json; signature: string } } & Json
let stockHeader: string

beforeAll(async () => {
  const payload = await signPayment(WALLET, toRequirements(OFFER, TERMS))
  stockHeader = encodePaymentSignatureHeader(payload)
  stock = JSON.parse(JSON.stringify(payload))
})

/** The payload with one of its fields replaced; `undefined` removes it. */
function changePayload(path: string, value: unknown): unknown {
  const copy: Json = structuredClone(stock)
  const steps = path.split('.')
  const last = steps.pop() ?? ''
  const parent = steps.reduce((at, step) => at[step] as Json, copy)
  if (value === undefined) Reflect.deleteProperty(parent, last)
  else parent[last] = value
  return copy
}

const readCode = (answer: ReturnType<typeof readPayment>) => (isFailure(answer) ? answer.code : 'read')

const readEncodedHeader = (value: unknown) => readPaymentHeader(encodeHeader(value))

test('a client’s data for extensions that the wall does not offer is kept with the payment, unless the data is too large', () => {
  const readWithExtensions = (extensions: unknown) => readPayment({ ...stock, extensions })
  const plain = readPayment({ ...stock, extensions: undefined })
  const builder = { info: { code: 'bc_7' } }
  expect(readWithExtensions({ builder, bazaar: { info: 'edited' } })).toEqual({
    ...(plain as Payment),
    extensions: { builder },
  })
  for (const extensions of [{ bazaar: {} }, {}, [], 'x', null, { builder: 'x'.repeat(5000) }])
    expect(readWithExtensions(extensions)).toEqual(plain)
})

describe("the stock client's own header", () => {
  test('the stock client’s header is read as it was signed', () => {
    const { authorization, signature } = stock.payload
    expect(readPaymentHeader(stockHeader)).toEqual({
      payer: PAYER.toLowerCase(),
      to: TERMS.payTo,
      amount: 1_000_000n,
      validAfter: BigInt(String(authorization['validAfter'])),
      validBefore: BigInt(String(authorization['validBefore'])),
      nonce: String(authorization['nonce']),
      signature,
      accepted: { ...TERMS, scheme: 'exact' },
    } as Payment)
  })

  test('the stock client’s header is read as the same payment as the payload that MCP carries', () => {
    expect(readPayment(stock)).toEqual(readPaymentHeader(stockHeader))
  })

  test('the stock client’s header is also read if its padding is missing', () => {
    expect(readPaymentHeader(stockHeader.replace(/=+$/, ''))).toEqual(readPaymentHeader(stockHeader))
  })
})

describe('letter case', () => {
  const toUpperHex = (hex: unknown) => `0x${String(hex).slice(2).toUpperCase()}`

  test.each([
    ['payload.authorization.nonce', toUpperHex],
    ['payload.authorization.from', toUpperHex],
    ['payload.authorization.from', (hex: unknown) => String(hex).toLowerCase()],
    ['payload.authorization.to', toUpperHex],
    ['payload.signature', toUpperHex],
    ['accepted.asset', toUpperHex],
    ['accepted.payTo', (hex: unknown) => String(hex).toLowerCase()],
  ])('a different letter case in %s does not change the payment', (path, spell) => {
    const value = path.split('.').reduce<unknown>((at, step) => (at as Json)[step], stock)
    expect(readPayment(changePayload(path, spell(value)))).toEqual(readPayment(stock))
  })
})

describe('the salt of an order', () => {
  const readBinding = (binding: unknown) => readPayment(changePayload('extensions', { 'order-binding': binding }))
  const salt = `0x${'5a'.repeat(32)}`

  test('the salt of an order is read from the client’s payload, and is not sent to a facilitator', () => {
    expect(readBinding({ info: { salt } })).toEqual({ ...(readPayment(stock) as Payment), salt })
  })

  test('a salt that is not a string is read as an empty salt, which matches no order', () => {
    expect(readBinding({ info: { salt: 5 } })).toHaveProperty('salt', '')
  })

  test.each([
    [undefined],
    [null],
    [5],
    [{}],
    [{ info: null }],
    [{ info: [] }],
    [{ salt }],
    [Object.create({ info: { salt } })],
  ])('a payment has no salt if the client sends %p as its order binding', (binding) =>
    expect(readBinding(binding)).toEqual(readPayment(stock)),
  )
})

describe('the payment identifier', () => {
  const id = 'pay_7d5d747be160e280'

  /**
   * The payload of a stock client that sends the identifier `name`, or without `name` only echoes the extension's
   * declaration.
   */
  const createNamedPayload = (name?: string) => {
    const extensions = structuredClone({ ...buildDemand(OFFER, 'next').extensions })
    return changePayload(
      'extensions',
      name === undefined ? extensions : appendPaymentIdentifierToExtensions(extensions, name),
    )
  }

  test('a payment identifier is read, and nothing else in the payment depends on it', () => {
    expect(readPayment(createNamedPayload(id))).toEqual({ ...(readPayment(stock) as Payment), identifier: id })
    expect(readPayment(createNamedPayload())).toEqual(readPayment(stock))
    expect(readPayment(changePayload('extensions', {}))).toEqual(readPayment(stock))
  })

  test('a payment identifier is accepted if the SDK makes or accepts it', () => {
    const every = [generatePaymentId(), generatePaymentId(''), 'a'.repeat(16), 'Z'.repeat(128), '0123456789-_AZaz']
    for (const name of every) expect(readPayment(createNamedPayload(name))).toMatchObject({ identifier: name })
  })

  test.each([
    ['too short', { info: { required: false, id: 'a'.repeat(15) } }],
    ['too long', { info: { required: false, id: 'a'.repeat(129) } }],
    ['not ASCII', { info: { id: 'ä'.repeat(16) } }],
    ['followed by a line feed', { info: { id: `${'a'.repeat(16)}\n` } }],
    ['a number', { info: { id: 1234567890123456 } }],
    ['without a value', { info: { id: null } }],
    ['missing its info', {}],
    ['a string', 'pay_7d5d747be160e280'],
    ['null', null],
  ])('a payment identifier that is %s is rejected', (_, extension) => {
    const payload = changePayload('extensions', { 'payment-identifier': extension })
    expect(readCode(readPayment(payload))).toBe('invalid_payment')
  })
})

describe('echoed fields', () => {
  test.each([
    ['resource', { url: 'https://evil.test/' }],
    ['resource', undefined],
    ['extensions', { bazaar: { info: 'edited' } }],
    ['extensions', undefined],
    ['more', 1],
    ['accepted.extra', { name: 'Another Coin', version: '9' }],
    ['accepted.maxTimeoutSeconds', 1],
  ])('the payment stays the same if the echoed field %s is %j', (path, value) => {
    expect(readPayment(changePayload(path, value))).toEqual(readPayment(stock))
  })

  test.each([
    ['scheme', 'upto', 'scheme', 'upto'],
    ['network', 'eip155:1', 'network', 'eip155:1'],
    ['amount', '999999', 'amount', 999_999n],
    ['payTo', `0x${'11'.repeat(20)}`, 'payTo', `0x${'11'.repeat(20)}`],
  ])(
    'if accepted.%s is %j, the payment keeps that value, so that it can be compared with the terms of the wall',
    (key, value, field, read) => {
      const payment = readPayment(changePayload(`accepted.${key}`, value))
      expect(payment).toMatchObject({ accepted: { [field]: read }, to: TERMS.payTo, amount: 1_000_000n })
    },
  )
})

describe('invalid payloads', () => {
  const numbers = [
    '1e6',
    '+1',
    '-1',
    ' 1',
    '01',
    '0xF4240',
    '1.0',
    '\u0661',
    '',
    (2n ** 256n).toString(),
    1,
    null,
    undefined,
  ]
  const addresses = [
    `0x${'1'.repeat(41)}`,
    `0X${'1'.repeat(40)}`,
    `0x${'g'.repeat(40)}`,
    `0x${'1'.repeat(40)}\n`,
    '0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913', // one letter of the checksum is wrong
    1,
    undefined,
  ]
  const hashes = [`0x${'1'.repeat(62)}`, `0x${'1'.repeat(66)}`, '1'.repeat(64), `0x${'x'.repeat(64)}`, 1, undefined]
  const cases: [string, readonly unknown[]][] = [
    ['x402Version', [1, 3, '2', null, undefined]],
    ['accepted', [null, [], 'exact', {}, undefined]],
    ['accepted.scheme', [1, null, undefined]],
    ['accepted.network', [8453, null, undefined]],
    ['accepted.amount', numbers],
    ['accepted.asset', addresses],
    ['accepted.payTo', addresses],
    ['payload', [null, [], 'x', {}, undefined]],
    ['payload.authorization', [null, [], '', {}, undefined]],
    ['payload.authorization.from', addresses],
    ['payload.authorization.to', addresses],
    ['payload.authorization.value', numbers],
    ['payload.authorization.validAfter', numbers],
    ['payload.authorization.validBefore', numbers],
    ['payload.authorization.nonce', hashes],
    ['payload.authorization.more', [1]],
    ['payload.signature', ['', '0x', '0x1', '0xzz', '12', `0x${'12'.repeat(65)} `, 12, null, ['0x12'], undefined]],
    ['payload.permit2Authorization', [{}, null]],
    ['payload.delegationManager', ['0x1234']],
    ['payload.permissionContext', ['0x']],
  ]
  test.each(cases.flatMap(([path, values]) => values.map((value) => [path, value] as const)))(
    'a payload whose %s is %j is rejected',
    (path, value) => {
      expect(readCode(readPayment(changePayload(path, value)))).toBe('invalid_payment')
      expect(readCode(readEncodedHeader(changePayload(path, value)))).toBe('invalid_payment')
    },
  )

  test('a payload with inherited keys is rejected', () => {
    const inherited = Object.create(stock.payload) as object
    expect(readCode(readPayment(changePayload('payload', undefined)))).toBe('invalid_payment')
    expect(readCode(readPayment({ ...stock, payload: inherited }))).toBe('invalid_payment')
  })

  test.each([[null], [undefined], [[]], [123], ['x'], [true], [{}]])('a payload that is %p is rejected', (payload) => {
    expect(readCode(readPayment(payload))).toBe('invalid_payment')
  })
})

describe('invalid headers', () => {
  const encodeText = (text: string | Uint8Array) => Buffer.from(text).toString('base64')

  test.each([
    ['empty', ''],
    ['not base64', '%%%not-base64'],
    ['base64 with a space', `${encodeText('{}')} `],
    ['two headers in one', `${encodeText('{}')}, ${encodeText('{}')}`],
    ['padded in the middle', 'e30=e30='],
    ['padded too much', 'e30==='],
    ['not JSON', encodeText('{bad')],
    ['not UTF-8', encodeText(Uint8Array.from([0x7b, 0xff, 0xfe, 0x7d]))],
    ['nested too deeply', encodeText('['.repeat(12_000) + ']'.repeat(12_000))],
  ])('a header that is %s is rejected', (_, header) => {
    expect(readCode(readPaymentHeader(header))).toBe('invalid_payment')
  })

  test('a header in the URL-safe base64 alphabet is rejected', () => {
    const urlSafe = Buffer.from(JSON.stringify({ ...stock, more: '???>>>' })).toString('base64url')
    expect(urlSafe).toMatch(/[-_]/)
    expect(readCode(readPaymentHeader(urlSafe))).toBe('invalid_payment')
  })

  test('a header with a duplicate key is rejected', () => {
    const text = JSON.stringify(stock).replace('"value":', '"value":"1","value":')
    expect(readCode(readPaymentHeader(encodeText(text)))).toBe('invalid_payment')
    expect(readCode(readPaymentHeader(encodeText(JSON.stringify(stock))))).toBe('read')
  })
})

describe('any input', () => {
  const isRefused = (answer: ReturnType<typeof readPayment>) => readCode(answer) === 'invalid_payment'

  test('random data as a payload is rejected, and causes no exception', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (value) => isRefused(readPayment(value))),
      { numRuns: 2000 },
    )
  })

  test('random text as a header is rejected, and causes no exception', () => {
    const headers = fc.oneof(
      fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('latin1')),
      fc.base64String(),
      fc.json().map((text) => Buffer.from(text).toString('base64')),
      fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
    )
    fc.assert(
      fc.property(headers, (header) => isRefused(readPaymentHeader(header))),
      { numRuns: 500 },
    )
  })

  test('a payload with any value in place of one field is rejected, or read as a well-formed payment', () => {
    const paths = [
      'x402Version',
      ...['scheme', 'network', 'amount', 'asset', 'payTo'].map((key) => `accepted.${key}`),
      ...['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'].map((key) => `payload.authorization.${key}`),
      'payload.signature',
    ]
    const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEFx'.split('')), maxLength: 68 })
    const values = fc.oneof(
      fc.jsonValue(),
      fc.bigInt().map(String),
      hex.map((digits) => `0x${digits}`),
    )
    fc.assert(
      fc.property(fc.constantFrom(...paths), values, (path, value) => {
        const answer = readEncodedHeader(changePayload(path, value))
        if (isFailure(answer)) return isRefused(answer)
        const { payer, to, nonce, signature, accepted } = answer
        expect([payer, to, accepted.asset, accepted.payTo].every((text) => /^0x[0-9a-f]{40}$/.test(text))).toBe(true)
        expect(nonce).toMatch(/^0x[0-9a-f]{64}$/)
        expect(signature).toMatch(/^0x(?:[0-9a-f]{2})+$/)
        const numbers = [answer.amount, answer.validAfter, answer.validBefore, accepted.amount]
        return numbers.every((number) => number >= 0n && number < 2n ** 256n)
      }),
      { numRuns: 2000 },
    )
  })
})
