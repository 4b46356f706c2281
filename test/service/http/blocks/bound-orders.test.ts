import { describe, expect, test } from 'bun:test'
import { validateDiscoveryExtension } from '@x402/extensions/bazaar'
import type { Payment } from '../../../../server/domain/purchase/payment.ts'
import { formatPictureDigest } from '../../../../shared/order.ts'
import { hashPixels } from '../../../../shared/signing.ts'
import { createFlatPng } from '../../../support/picture-files.ts'
import { createTestPayment, createWalletAddress } from '../../../support/samples.ts'
import { callTool } from '../../../support/service/agent.ts'
import { bindPayment, OTHER_SALT, stripBinding } from '../../../support/service/bound.ts'
import { createBodyInit } from '../../../support/service/signed.ts'
import {
  decodeDemand,
  encodeHeader,
  readJson,
  openWall,
  createPaidInit,
  createPaymentFor,
  toPayload,
  type Wall,
} from '../../../support/service/wall.ts'

// Goal: an order that its buyer has bound is bought as it was signed, or not at all. Method: the same payment is sent
// with requests that were altered in transit, over HTTP and MCP.

const PX = '07'.repeat(100)
const PAINTER = createWalletAddress(9)

/** The outcome of a request: its status, error code and body. */
type End = { readonly status: number; readonly code: unknown; readonly answer: Record<string, unknown> }

async function readEnd(response: Response): Promise<End> {
  const answer = await readJson(response)
  return { status: response.status, code: answer['error'], answer }
}

const buyByGet = async (wall: Wall, path: string, payment: Payment): Promise<End> =>
  await readEnd(await wall.sendRequest(`GET ${path}`, createPaidInit(payment)))

const buyByPost = async (wall: Wall, body: object, payment: Payment): Promise<End> =>
  await readEnd(await wall.sendRequest('POST /areas', createBodyInit(body, createPaidInit(payment).headers)))

async function buyByTool(wall: Wall, tool: string, args: object, payment: Payment): Promise<End> {
  const { isError, structuredContent } = await callTool(wall, tool, args, toPayload(payment))
  return { status: isError === true ? 400 : 200, code: structuredContent['error'], answer: structuredContent }
}

/**
 * Expects that nothing is sold or charged, and that no call leaves the process: the chain is silent, so a call to it
 * would change the response.
 */
async function expectNothingBought(wall: Wall, sending: () => Promise<End>): Promise<void> {
  wall.chain.silent = true
  const { status, code, answer } = await sending()
  wall.chain.silent = false
  expect([status, code]).toEqual([400, 'order_mismatch'])
  expect(answer).not.toHaveProperty('charged')
  expect([wall.facilitator.verified, wall.facilitator.settled]).toEqual([[], []])
  expect((await wall.client.api.feed.get({ query: {} })).data?.sales).toEqual([])
}

test('over HTTP and MCP, terms of version 2 for blocks and areas announce that orders can be bound', async () => {
  const wall = await openWall()
  const readMcpExtensions = async (tool: string, args: object) =>
    (await callTool(wall, tool, args)).structuredContent['extensions'] as Record<string, unknown>
  const announced = [
    decodeDemand(await wall.sendRequest('GET /blocks/next')).extensions,
    decodeDemand(await wall.sendRequest('GET /blocks/3,4?message=hi')).extensions,
    decodeDemand(await wall.sendRequest('POST /areas', createBodyInit({ w: 2, h: 1 }))).extensions,
    await readMcpExtensions('buy_block', { coord: 'next' }),
    await readMcpExtensions('buy_area', { w: 2, h: 1 }),
  ]
  for (const extensions of announced) {
    expect(extensions).toMatchObject({ 'order-binding': { info: { version: '1' }, schema: { type: 'object' } } })
    expect(extensions?.['order-binding']).not.toHaveProperty('info.salt')
    expect(validateDiscoveryExtension(extensions?.['bazaar'] as never)).toMatchObject({ valid: true })
  }
})

/** Requests over HTTP that buy a block, and the order of each. */
const BLOCK_ORDERS = [
  ['/blocks/next', { block: 'next' }],
  ['/blocks/007,3', { block: '7,3' }],
  [
    `/blocks/3,4?name=Ada&framework=loom&message=hello%2C+wall&link=https://ada.example/&px=${PX}&painter=${PAINTER.toUpperCase().replace('0X', '0x')}`,
    {
      block: '3,4',
      name: 'Ada',
      framework: 'loom',
      message: 'hello, wall',
      link: 'https://ada.example/',
      px: PX,
      painter: PAINTER,
    },
  ],
] as const

test.each(BLOCK_ORDERS)(
  'a payment that is bound to the order of GET %s buys the block, and can be resent unchanged',
  async (path, order) => {
    const wall = await openWall()
    const payment = bindPayment(order, createTestPayment(1, 1))
    const first = await buyByGet(wall, path, payment)
    expect(first.status).toBe(200)
    expect(await buyByGet(wall, path, payment)).toEqual(first)
    expect(wall.facilitator.settled).toHaveLength(1)
  },
)

const ROWS = Uint8Array.from({ length: 600 }, (_, i) => i % 7)
const FILE = createFlatPng(20, 10, '#c81e1e')

/** Bodies that buy an area, each with its number of blocks and its order. */
const AREA_ORDERS = [
  [{ w: 1, h: 1 }, 1, { area: 'next,1x1' }],
  [
    { at: '80,45', w: 1, h: 1, pixels: ROWS.subarray(0, 100).toBase64() },
    1,
    { area: '80,45,1x1', pixels: hashBytes(ROWS.subarray(0, 100)) },
  ],
  [
    { at: '80,45', w: 3, h: 2, pixels: ROWS.toBase64(), message: 'hi' },
    6,
    { area: '80,45,3x2', message: 'hi', pixels: hashBytes(ROWS) },
  ],
  [
    { w: 2, h: 1, image: FILE.toBase64(), dither: 'floyd-steinberg' },
    2,
    { area: 'next,2x1', image: `${hashBytes(FILE)},cover,floyd-steinberg` },
  ],
  [{ w: 2, h: 1, fit: 'contain' }, 2, { area: 'next,2x1' }],
] as const

test.each(AREA_ORDERS)(
  'a payment that is bound to the order of POST /areas with %j buys the area, over HTTP and MCP',
  async (body, blocks, order) => {
    const overHttp = await openWall()
    expect((await buyByPost(overHttp, body, bindPayment(order, createPaymentFor(blocks, 1)))).status).toBe(200)
    const overMcp = await openWall()
    expect((await buyByTool(overMcp, 'buy_area', body, bindPayment(order, createPaymentFor(blocks, 1)))).status).toBe(
      200,
    )
  },
)

test.each<[string, string]>([
  ['another position', '/blocks/3,5?name=Ada&message=hello'],
  ['no fixed position', '/blocks/next?name=Ada&message=hello'],
  ['another message', '/blocks/3,4?name=Ada&message=goodbye'],
  ['an extra field', '/blocks/3,4?name=Ada&message=hello&link=https://eve.example/'],
  ['one field fewer', '/blocks/3,4?name=Ada'],
  ['a painter', `/blocks/3,4?name=Ada&message=hello&painter=${PAINTER}`],
  ['a picture', `/blocks/3,4?name=Ada&message=hello&px=${PX}`],
])(
  'a bound payment is not charged and buys nothing if its request was altered in transit to have %s',
  async (_, path) => {
    const order = { block: '3,4', name: 'Ada', message: 'hello' }
    const payment = bindPayment(order, createTestPayment(1, 1))
    for (const sent of [
      payment,
      stripBinding(payment),
      { ...payment, salt: OTHER_SALT },
      { ...payment, salt: 'none' },
    ]) {
      const wall = await openWall()
      await expectNothingBought(wall, () => buyByGet(wall, path, sent))
      const [coord, query] = path.slice('/blocks/'.length).split('?')
      const args = { coord, ...Object.fromEntries(new URLSearchParams(query)) }
      await expectNothingBought(wall, () => buyByTool(wall, 'buy_block', args, sent))
      expect((await buyByGet(wall, '/blocks/3,4?name=Ada&message=hello', payment)).status).toBe(200)
    }
  },
)

describe('a bound payment for an area', () => {
  const order = { area: '80,45,3x2', message: 'hi', pixels: hashBytes(ROWS) }
  const body = { at: '80,45', w: 3, h: 2, message: 'hi', pixels: ROWS.toBase64() }

  test.each<[string, object]>([
    ['another position', { ...body, at: '80,46' }],
    ['no fixed position', { ...body, at: 'next' }],
    ['another shape', { ...body, w: 2, h: 3 }],
    ['another message', { ...body, message: 'ho' }],
    ['a painter', { ...body, painter: PAINTER }],
    ['one changed pixel', { ...body, pixels: ROWS.with(599, 239).toBase64() }],
    ['an image instead of its pixels', { ...body, pixels: undefined, image: FILE.toBase64() }],
    ['no picture', { ...body, pixels: undefined }],
  ])(
    'a bound payment is not charged and buys nothing if the body of its request was altered in transit to have %s',
    async (_, altered) => {
      const payment = bindPayment(order, createPaymentFor(6, 1))
      for (const sent of [payment, stripBinding(payment)]) {
        const wall = await openWall()
        await expectNothingBought(wall, () => buyByPost(wall, altered, sent))
        await expectNothingBought(wall, () => buyByTool(wall, 'buy_area', altered, sent))
      }
    },
  )

  test('the nonce of an order with an image is also bound to the way the image is scaled', async () => {
    const payment = bindPayment({ area: 'next,2x1', image: `${hashBytes(FILE)},contain,none` }, createPaymentFor(2, 1))
    const wall = await openWall()
    await expectNothingBought(wall, () => buyByPost(wall, { w: 2, h: 1, image: FILE.toBase64() }, payment))
    const bought = await buyByPost(wall, { w: 2, h: 1, image: FILE.toBase64(), fit: 'contain' }, payment)
    expect(bought.status).toBe(200)
  })

  test('a bound payment for an area of one block does not buy that block, and a payment for the block does not buy the area', async () => {
    const wall = await openWall()
    await expectNothingBought(wall, () =>
      buyByGet(wall, '/blocks/3,4', bindPayment({ area: '3,4,1x1' }, createTestPayment(1, 1))),
    )
    const block = bindPayment({ block: '3,4' }, createTestPayment(2, 2))
    await expectNothingBought(wall, () => buyByPost(wall, { at: '3,4', w: 1, h: 1 }, block))
  })
})

test('a bound payment that is forwarded in version 1, which does not support bound orders, buys nothing', async () => {
  const wall = await openWall()
  const { payload } = toPayload(bindPayment({ block: '3,4' }, createTestPayment(1, 1)))
  const older = { x402Version: 1, scheme: 'exact', network: 'base', payload }
  const headers = { 'X-PAYMENT': encodeHeader(older) }
  await expectNothingBought(wall, async () => await readEnd(await wall.sendRequest('GET /blocks/3,4', { headers })))
  const buyOverMcp = async (): Promise<End> => {
    const { isError, structuredContent } = await callTool(wall, 'buy_block', { coord: '3,4', headers })
    return { status: isError === true ? 400 : 200, code: structuredContent['error'], answer: structuredContent }
  }
  await expectNothingBought(wall, buyOverMcp)
  const { answer } = await buyByGet(wall, '/blocks/3,4', bindPayment({ block: '3,4' }, createTestPayment(1, 1)))
  expect((await buyOverMcp()).answer).toEqual(answer)
  expect(wall.facilitator.settled).toHaveLength(1)
})

test('a payment made from the result of signing_message pays for the signed order over MCP, and for no other order', async () => {
  const wall = await openWall()
  const orders = [
    [{ coord: '3,4', message: 'hello' }, 'buy_block', { coord: '3,4', message: 'goodbye' }],
    [{ at: '80,45', w: 2, h: 1, salt: OTHER_SALT }, 'buy_area', { at: '80,46', w: 2, h: 1 }],
  ] as const
  for (const [at, [order, tool, altered]] of orders.entries()) {
    const { structuredContent } = await callTool(wall, 'signing_message', { kind: 'order', order })
    const { nonce, extensions, call } = structuredContent
    expect(call).toMatchObject({ name: tool })
    const payment = { ...createPaymentFor(at + 1, at + 1), nonce: String(nonce) as `0x${string}` }
    const payload = { ...toPayload(payment), extensions }
    const other = await callTool(wall, tool, altered, payload)
    expect(other.structuredContent).toMatchObject({ error: 'order_mismatch' })
    const { name, arguments: given } = call as { name: string; arguments: object }
    expect((await callTool(wall, name, given, payload)).isError).toBeUndefined()
  }
  expect(wall.facilitator.settled).toHaveLength(2)
})

test('signing_message rejects an order that a purchase would reject', async () => {
  const wall = await openWall()
  for (const [order, error] of [
    [undefined, 'invalid_body'],
    [{ coord: '160,0' }, 'invalid_coordinate'],
    [{ coord: 'next', mesage: 'hi' }, 'invalid_body'],
  ] as const)
    expect((await callTool(wall, 'signing_message', { kind: 'order', order })).structuredContent).toMatchObject({
      error,
    })
})

test('a payment that is bound to an order on another wall buys nothing', async () => {
  const wall = await openWall()
  const payment = bindPayment({ block: '3,4' }, createTestPayment(1, 1), 'other.example')
  await expectNothingBought(wall, () => buyByGet(wall, '/blocks/3,4', payment))
})

test('a bound payment with an invalid request gets the error of that request, and is not sent to the facilitator', async () => {
  const wall = await openWall()
  const payment = bindPayment({ block: '3,4' }, createTestPayment(1, 1))
  expect(await buyByGet(wall, '/blocks/3,4?mesage=hi', payment)).toMatchObject({ status: 400, code: 'invalid_listing' })
  expect(wall.facilitator.verified).toEqual([])
})

test.each<[string, object | undefined]>([
  ['says nothing about its order', undefined],
  ['repeats the announcement of bound orders', { info: { version: '1' }, schema: {} }],
  ['sends a binding that cannot be read', { info: null }],
])('a client that %s can still buy, without a bound order', async (_, said) => {
  const wall = await openWall()
  const payload = {
    ...toPayload(createTestPayment(1, 1)),
    extensions: said === undefined ? {} : { 'order-binding': said },
  }
  const init = { headers: { 'PAYMENT-SIGNATURE': encodeHeader(payload) } }
  expect((await wall.sendRequest('GET /blocks/3,4?message=hi', init)).status).toBe(200)
})

test('a payment with a salt, but with a nonce that is not bound to an order, is rejected', async () => {
  const wall = await openWall()
  await expectNothingBought(wall, () => buyByGet(wall, '/blocks/3,4', { ...createTestPayment(1, 1), salt: OTHER_SALT }))
})

test('a resend of a known payment with an altered order gets the response of the known payment', async () => {
  const wall = await openWall()
  const payment = bindPayment({ block: '3,4', message: 'hello' }, createTestPayment(1, 1))
  const { answer } = await buyByGet(wall, '/blocks/3,4?message=hello', payment)
  for (const sent of [payment, stripBinding(payment), { ...payment, salt: OTHER_SALT }]) {
    expect(await buyByGet(wall, '/blocks/3,4?message=goodbye', sent)).toEqual({ status: 200, code: undefined, answer })
    expect((await buyByTool(wall, 'buy_block', { coord: '3,4' }, sent)).answer).toEqual(answer)
    expect(await buyByGet(wall, '/blocks/3,5', sent)).toMatchObject({ status: 409, code: 'payment_used' })
  }
  expect(wall.facilitator.settled).toHaveLength(1)
})

test('a facilitator gets neither the announcement of bound orders nor the salt', async () => {
  const wall = await openWall()
  await buyByGet(wall, '/blocks/3,4', bindPayment({ block: '3,4' }, createTestPayment(1, 1)))
  expect(wall.facilitator.verified).toHaveLength(1)
  expect(wall.facilitator.verified[0]).not.toHaveProperty('extensions')
})

function hashBytes(bytes: Uint8Array): string {
  return formatPictureDigest(hashPixels(bytes))
}
