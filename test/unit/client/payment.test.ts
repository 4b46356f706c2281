import { describe, expect, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import { recoverAddress } from 'viem/utils'
import { createAreaOrder, createBlockOrder, type OrderToPay } from '../../../server/client/orders.ts'
import { parseAuthorization, createSalt, signPayment, parseTerms } from '../../../server/client/payment.ts'
import { isFailure } from '../../../server/domain/failure.ts'
import { createAuthorizationHasher } from '../../../server/x402/authorization.ts'
import { readPaymentHeader } from '../../../server/x402/payload.ts'
import { encodeHeader } from '../../../server/x402/receipt.ts'
import { buildDemand } from '../../../server/x402/terms.ts'
import { matchesOrder, parseOrderText } from '../../../shared/order.ts'
import { hashPixels } from '../../../shared/signing.ts'
import { OFFER } from '../../support/offer.ts'

// Goal: a payment of our client buys one order and nothing else. Method: the client signs the wall's own terms, and the
// wall reads the payment.

const KEY = privateKeyToAccount(`0x${'1'.repeat(64)}`)
const WALL = new URL('https://wall.test:8443')
const NOW = Date.UTC(2026, 0, 1)

const createUrl = (path: string, query: object) => {
  const url = new URL(path, WALL)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value))
  return url
}

const demand = buildDemand(OFFER, 'next')

/** Signs an order for a wall's terms; returns the payment as the wall reads it. */
async function signOrder(order: OrderToPay, terms: object = demand) {
  const salt = createSalt()
  const read = parseTerms(encodeHeader(terms))
  if (typeof read === 'string') throw new Error(read)
  const header = await signPayment(KEY, read, { text: order.text, salt, now: NOW })
  const payment = readPaymentHeader(header)
  if (isFailure(payment)) throw new Error(payment.message)
  return { salt, header, payment }
}

const NEXT = createBlockOrder(createUrl, 'next', { name: 'Ada' })

describe('a payment of our client', () => {
  test('a payment is signed by its wallet for the terms of the wall, and is valid for no longer than these terms allow', async () => {
    const { payment, header } = await signOrder(NEXT)

    const digest = createAuthorizationHasher(OFFER.assetName, OFFER.assetVersion)(payment)
    expect(await recoverAddress({ hash: digest ?? '0x', signature: payment.signature })).toBe(KEY.address)
    const { amount, payTo: to } = OFFER.terms
    expect(payment).toMatchObject({
      payer: KEY.address.toLowerCase(),
      to,
      amount,
      validAfter: 0n,
    })
    expect(parseAuthorization(header)).toEqual({ amount, until: NOW + 300_000 })
  })

  test('a payment is bound to its order, and carries the salt if the wall announces order binding', async () => {
    const { payment, salt } = await signOrder(NEXT)
    expect(matchesOrder(payment.nonce, NEXT.text, salt)).toBe(true)
    expect(payment.salt).toBe(salt)
    expect(matchesOrder(payment.nonce, createBlockOrder(createUrl, 'next', { name: 'Bob' }).text, salt)).toBe(false)
  })

  test('a payment is bound even if the announcement of order binding was stripped in transit, but then it carries no salt', async () => {
    const { payment, salt } = await signOrder(NEXT, { ...demand, extensions: {} })
    expect(matchesOrder(payment.nonce, NEXT.text, salt)).toBe(true)
    expect(payment.salt).toBeUndefined()
  })

  test('each payment has its own nonce', async () => {
    expect((await signOrder(NEXT)).payment.nonce).not.toBe((await signOrder(NEXT)).payment.nonce)
  })

  test('an authorization is not read from malformed headers', () => {
    for (const header of [
      '',
      '%%%',
      'e30=',
      encodeHeader({ payload: { authorization: { value: '-1', validBefore: '1' } } }),
    ])
      expect(parseAuthorization(header)).toBeUndefined()
  })

  test.each([
    ['is not JSON', '%%%', 'unreadable'],
    ['is of version 1', encodeHeader({ ...demand, x402Version: 1 }), 'unreadable'],
    ['offers nothing', encodeHeader({ ...demand, accepts: [] }), 'unsupported'],
    [
      'pays to an invalid address',
      encodeHeader({ ...demand, accepts: [{ ...demand.accepts[0], payTo: '0x1' }] }),
      'unsupported',
    ],
    ['has a price of 0', encodeHeader({ ...demand, accepts: [{ ...demand.accepts[0], amount: '0' }] }), 'unsupported'],
    [
      'has an unsupported scheme',
      encodeHeader({ ...demand, accepts: [{ ...demand.accepts[0], scheme: 'upto' }] }),
      'unsupported',
    ],
  ])('no payment is made for a demand that %s', (_, header, what) => {
    expect<unknown>(parseTerms(header)).toBe(what)
  })

  test('a payment is valid for ten minutes at most, whatever a wall requests', async () => {
    const accepts = demand.accepts.map((offer) => ({ ...offer, maxTimeoutSeconds: 86_400 }))
    const { header } = await signOrder(NEXT, { ...demand, accepts })
    expect(parseAuthorization(header)?.until).toBe(NOW + 600_000)
  })
})

describe('an order', () => {
  const painter = `0x${'AB'.repeat(20)}`

  test('the order for a block contains the URL to request, and the text that the payment is bound to', () => {
    const px = 'Ab'.repeat(100)
    const order = createBlockOrder(createUrl, '07,3', { name: 'Ada', message: 'hello, world & co', px, painter })
    expect(order).toMatchObject({ blocks: 1, place: '7,3,1x1' })
    expect(new URL(order.url).searchParams.get('message')).toBe('hello, world & co')
    const said = { name: 'Ada', message: 'hello, world & co', px: px.toLowerCase(), painter: painter.toLowerCase() }
    expect(parseOrderText(order.text)).toEqual({ host: 'wall.test', block: '7,3', ...said })
  })

  test('the text of an order for an area contains the digest of its pixels', () => {
    const rows = new Uint8Array(200).fill(7)
    const order = createAreaOrder(createUrl('/areas', {}), { at: '7,3', w: 2, h: 1, link: 'https://a.test' }, rows)
    expect(order).toMatchObject({ blocks: 2, place: '7,3,2x1', url: 'https://wall.test:8443/areas' })
    const pixels = `sha256:${hashPixels(rows)}`
    expect(parseOrderText(order.text)).toEqual({ host: 'wall.test', area: '7,3,2x1', link: 'https://a.test', pixels })
    expect(JSON.parse(order.body ?? '')).toEqual({
      at: '7,3',
      w: 2,
      h: 1,
      link: 'https://a.test',
      pixels: rows.toBase64(),
    })
  })

  test('an order for the next open block, or for the next open space of a given size, has no position yet', () => {
    expect(NEXT.place).toBeUndefined()
    const order = createAreaOrder(createUrl('/areas', {}), { w: 4, h: 3 }, undefined)
    expect([order.place, parseOrderText(order.text)?.area]).toEqual([undefined, 'next,4x3'])
  })

  test('an order with a line break in one of its texts is rejected before any request', () => {
    expect(() => createBlockOrder(createUrl, 'next', { message: 'two\nlines' })).toThrow(
      'must be one line each. Nothing was paid.',
    )
  })
})
