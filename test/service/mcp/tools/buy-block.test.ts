import { describe, expect, test } from 'bun:test'
import { isPaymentRequiredV2 } from '@x402/core/schemas'
import { StoreUnavailable } from '../../../../server/domain/failure.ts'
import { toHash, createTestPayment } from '../../../support/samples.ts'
import { buyOverMcp, callTool, sendRpc } from '../../../support/service/agent.ts'
import { bindPayment } from '../../../support/service/bound.ts'
import { decodeDemand, encodeHeader, openWall, toPayload } from '../../../support/service/wall.ts'

// A wall for requests that change nothing.
const untouched = openWall()

test('a client that negotiated an MCP version gets the terms as a tool result that x402 clients can pay', async () => {
  const answer = await callTool(await untouched, 'buy_block', { coord: '007,3' })
  const { _meta: meta = {}, structuredContent, content, isError } = answer
  expect(isError).toBe(true)
  expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent)
  const { code, message, ...terms } = structuredContent
  expect(code).toBe(402)
  expect(message).toContain('params._meta["x402/payment"]')
  expect(isPaymentRequiredV2(terms as Parameters<typeof isPaymentRequiredV2>[0])).toBe(true)
  expect(meta).toEqual({
    'x402/payment': terms,
    'x402/error': { code: 402, message: 'payment_required', data: terms },
  })
  const overHttp = decodeDemand(await (await untouched).sendRequest('GET /blocks/7,3'))
  // Each interface is listed in catalogues under its own address.
  const resource = { ...overHttp.resource, url: 'https://wall.test/mcp' }
  expect<object>({ ...terms, extensions: undefined }).toEqual({ ...overHttp, resource, extensions: undefined })
})

test('a request without a negotiated MCP version gets the terms in a JSON-RPC error', async () => {
  const wall = await untouched
  const request = { id: 7, method: 'tools/call', params: { name: 'buy_block', arguments: { coord: 'next' } } }
  const { status, error = { code: 0, message: '' } } = await sendRpc(wall, request)
  expect([status, error.code, error.message]).toEqual([200, 402, 'payment_required'])
  const { structuredContent, _meta: meta, message, ...terms } = error.data as Record<string, unknown>
  expect(message).toContain('1.00 USDC')
  expect(structuredContent).toEqual(terms)
  expect(meta).toEqual({ 'x402/payment': terms })
  expect(terms).toMatchObject({ resource: { url: 'https://wall.test/mcp' } })
})

test('a receipt is the same with and without a negotiated MCP version, and has the same content as text and as data', async () => {
  const wall = await openWall()
  const sold = await buyOverMcp(wall, { coord: '3,4' }, createTestPayment(1, 1))
  expect([sold.isError, JSON.parse(sold.content[0]?.text ?? '')]).toEqual([undefined, sold.structuredContent])
  const params = {
    name: 'buy_block',
    arguments: { coord: '3,4' },
    _meta: { 'x402/payment': toPayload(createTestPayment(1, 1)) },
  }
  expect((await sendRpc(wall, { method: 'tools/call', params })).result).toEqual({ ...sold })
  expect(wall.facilitator.settled).toHaveLength(1)
})

test.each([[undefined], [null], ['string'], [5], [true], [[]], [[{}]]])(
  'a call with %j as its payment gets the terms, as an unpaid call does',
  async (payment) => {
    const { structuredContent } = await callTool(await untouched, 'buy_block', { coord: 'next' }, payment)
    expect(structuredContent).toMatchObject({ code: 402, error: 'payment_required' })
    expect(structuredContent).not.toHaveProperty('reason')
  },
)

test('a payment in a __proto__ field is ignored', async () => {
  const wall = await untouched
  const params = JSON.parse(
    '{"name":"buy_block","arguments":{"coord":"next"},"_meta":{"__proto__":{"x402/payment":{}}}}',
  )
  expect(await sendRpc(wall, { id: 1, method: 'tools/call', params })).toMatchObject({ error: { code: 402 } })
})

test.each([
  ['no block', {}, 'invalid_coordinate'],
  ['a coordinate that is a number', { coord: 5 }, 'invalid_coordinate'],
  ['a name that is null', { coord: '3,4', name: null }, 'invalid_listing'],
  ['a field pixels instead of px', { coord: '3,4', pixels: '07'.repeat(100) }, 'invalid_listing'],
  ['a picture that is a number', { coord: '3,4', px: 7 }, 'invalid_pixels'],
])('a call with %s is rejected without terms, and nobody is charged', async (_, args, error) => {
  const wall = await untouched
  for (const payment of [undefined, toPayload(createTestPayment(1, 1))]) {
    const { isError, structuredContent } = await callTool(wall, 'buy_block', args, payment)
    expect(isError).toBe(true)
    expect(structuredContent).toEqual({ error, message: expect.any(String) })
  }
  expect(wall.facilitator.verified).toEqual([])
})

test('if the database is unavailable, a call gets an error with the time to wait', async () => {
  const failToReadSpace = async () => {
    throw new StoreUnavailable('secret')
  }
  const wall = await openWall({ ledger: { checkSpace: failToReadSpace } })
  const { isError, structuredContent } = await callTool(wall, 'buy_block', { coord: 'next' })
  expect(isError).toBe(true)
  expect(structuredContent).toMatchObject({ error: 'database_unavailable', retryAfter: 2 })
})

test('the response to a payment with an unknown outcome reports that outcome where x402 clients look for the settlement', async () => {
  const wall = await openWall()
  wall.facilitator.settling = { kind: 'unclear', tx: toHash(7) }
  const {
    isError,
    structuredContent,
    _meta: meta,
  } = await buyOverMcp(wall, { coord: '3,4' }, createTestPayment(0xab, 1))
  expect([isError, structuredContent['error'], structuredContent['transaction']]).toEqual([
    true,
    'settlement_unknown',
    toHash(7),
  ])
  expect(meta).toEqual({
    'x402/payment-response': {
      success: false,
      errorReason: 'settlement_pending',
      payer: '0x00000000000000000000000000000000000000AB',
      transaction: toHash(7),
      network: 'eip155:8453',
    },
  })
})

describe('a payment in the argument `headers`, as AWS AgentCore sends it', () => {
  const payment = createTestPayment(0xab, 1)
  const signed = encodeHeader(toPayload(payment))

  test.each([
    ['buys a block', 'buy_block', { coord: '3,4', message: 'hi' }, { block: '3,4', deed: { message: 'hi' } }],
    [
      'buys an area',
      'buy_area',
      { at: '3,4', w: 1, h: 1, message: 'hi' },
      { area: '3,4,1x1', deed: { message: 'hi' } },
    ],
  ])(
    'a payment in the argument `headers` %s, even if the payment header is in mixed case and among other headers',
    async (_, tool, order, receipt) => {
      const wall = await openWall()
      const headers = { Accept: 'application/json', 'payment-Signature': signed, 'X-Retry': 3 }
      expect(await callTool(wall, tool, { ...order, headers })).toMatchObject({
        structuredContent: receipt,
        _meta: { 'x402/payment-response': { success: true, transaction: toHash(1) } },
      })
      // The same payment in `_meta` gets the same receipt.
      expect(await callTool(wall, tool, order, toPayload(payment))).toMatchObject({ structuredContent: receipt })
    },
  )

  test('a payment in the argument `headers` can use version 1 of x402', async () => {
    const { payload } = toPayload(payment)
    const older = encodeHeader({ x402Version: 1, scheme: 'exact', network: 'base', payload })
    const { structuredContent } = await callTool(await openWall(), 'buy_block', {
      coord: '3,4',
      headers: { 'X-PAYMENT': older },
    })
    expect(structuredContent).toMatchObject({ block: '3,4' })
  })

  test('the argument `headers` is not part of the order that a payment is bound to', async () => {
    const bound = encodeHeader(toPayload(bindPayment({ block: '3,4' }, payment)))
    const args = { coord: '3,4', headers: { 'PAYMENT-SIGNATURE': bound } }
    expect(await callTool(await openWall(), 'buy_block', args)).toMatchObject({ structuredContent: { block: '3,4' } })
  })

  test('a payment in `headers` that differs from the one in _meta is rejected, and headers without a payment are ignored', async () => {
    const wall = await openWall()
    const args = { coord: '3,4', headers: { 'PAYMENT-SIGNATURE': encodeHeader(toPayload(createTestPayment(2, 2))) } }
    expect(await callTool(wall, 'buy_block', args, toPayload(payment))).toMatchObject({
      structuredContent: { error: 'invalid_payment', message: expect.stringContaining('two different payments') },
    })
    expect(await callTool(wall, 'buy_block', { coord: '3,4', headers: {} })).toMatchObject({
      structuredContent: { code: 402 },
    })
  })

  test('a tool that does not sell rejects the argument `headers` as unknown, and a tool that sells rejects it unless it is an object', async () => {
    for (const [tool, args] of [
      ['preview_block', { coord: 'next' }],
      ['get_block', { coord: '3,4' }],
      ['set_pixels', { coord: '3,4', ts: 1, signature: '0x12', message: 'hi' }],
    ] as const)
      expect(
        await callTool(await untouched, tool, { ...args, headers: { 'PAYMENT-SIGNATURE': signed } }),
      ).toMatchObject({
        structuredContent: { error: 'invalid_body' },
      })
    expect(
      await callTool(await untouched, 'buy_block', { coord: '3,4', headers: 'none' }, toPayload(payment)),
    ).toMatchObject({
      structuredContent: { error: 'invalid_listing' },
    })
  })
})
