import { beforeAll, describe, expect, test } from 'bun:test'
import { createTestPayment } from '../../support/samples.ts'
import {
  TOOL_LIST,
  NEGOTIATED,
  postBody,
  sendRpc,
  STATELESS,
  buildStatelessRequest,
  type ToolAnswer,
} from '../../support/service/agent.ts'
import { openWall, toPayload, type Wall } from '../../support/service/wall.ts'

// Goal: the server supports the older revisions of MCP, and revision 2026-07-28, in which each request is
// self-contained. Method: the test sends requests that the specification allows, and requests that it forbids.

let wall: Wall
beforeAll(async () => {
  wall = await openWall()
})

const sendRequest = async (...request: Parameters<typeof buildStatelessRequest>) => {
  const { message, headers } = buildStatelessRequest(...request)
  return await sendRpc(wall, { id: 7, ...message }, headers)
}

test('server/discover lists the protocol versions and capabilities, without a handshake', async () => {
  const { status, id, result } = await sendRequest('server/discover')
  expect([status, id]).toEqual([200, 7])
  expect(result).toMatchObject({
    resultType: 'complete',
    supportedVersions: [STATELESS],
    capabilities: { tools: {} },
    instructions: expect.stringContaining('buy_block'),
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'pixel-wall', title: 'Pixel Wall' } },
  })
})

test('the stateless MCP revision lists the same tools as the older revisions, and the list may be cached for five minutes', async () => {
  const { result } = await sendRequest('tools/list')
  expect(result).toMatchObject({ resultType: 'complete', ttlMs: 300_000, cacheScope: 'public' })
  expect<unknown>(result?.['tools']).toEqual(JSON.parse(JSON.stringify(TOOL_LIST)))
})

test('in the stateless MCP revision, an unpaid call to buy_block gets the terms, and the paid call gets the receipt', async () => {
  const call = { name: 'buy_block', arguments: { coord: '5,5', name: 'Ada' } }
  const demand = (await sendRequest('tools/call', call)).result as unknown as ToolAnswer
  expect(demand).toMatchObject({
    isError: true,
    structuredContent: { x402Version: 2, code: 402, error: 'payment_required' },
    _meta: { 'x402/payment': { resource: { url: 'https://wall.test/mcp' } } },
  })
  const paid = (await sendRequest('tools/call', call, { 'x402/payment': toPayload(createTestPayment(1, 1)) }))
    .result as unknown as ToolAnswer
  expect(paid).toMatchObject({
    structuredContent: { block: '5,5' },
    _meta: { 'x402/payment-response': { success: true } },
  })
  expect(paid.isError).toBeUndefined()
})

test('in the stateless MCP revision, responses are JSON that is not cached, and notifications get no body', async () => {
  const sendMethod = async (method: string, params: object) => {
    const { message, headers } = buildStatelessRequest(method, { ...params })
    return await postBody(
      wall,
      JSON.stringify({ jsonrpc: '2.0', ...(method.startsWith('tools') ? { id: 1 } : {}), ...message }),
      headers,
    )
  }
  const { headers } = await sendMethod('tools/list', {})
  expect([headers.get('content-type'), headers.get('cache-control')]).toEqual(['application/json', 'no-store'])
  const noted = await sendMethod('notifications/cancelled', { requestId: 1 })
  expect([noted.status, await noted.text()]).toEqual([202, ''])
})

test('in every MCP revision, an unexpected exception causes an HTTP 500 that does not contain the message of the exception', async () => {
  const failToReadSpace = async () => {
    throw new Error('secret')
  }
  const broken = await openWall({ ledger: { checkSpace: failToReadSpace } })
  const params = { name: 'buy_block', arguments: { coord: 'next' } }
  const { message, headers } = buildStatelessRequest('tools/call', params)
  const answers = [
    await postBody(broken, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }), NEGOTIATED),
    await postBody(broken, JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }), headers),
  ]
  for (const answer of answers) {
    const text = await answer.text()
    expect([answer.status, text]).toEqual([500, expect.stringContaining('internal_error')])
    expect(text).not.toContain('secret')
  }
  expect(broken.logger.alerts).toHaveLength(2)
})

describe('requests that the stateless MCP revision forbids', () => {
  test('the error for a request in an unknown revision lists the supported revision', async () => {
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2030-01-01' }
    expect(await sendRequest('tools/list', {}, meta, { 'mcp-protocol-version': '2030-01-01' })).toMatchObject({
      status: 400,
      id: 7,
      error: { code: -32_022, data: { supported: [STATELESS], requested: '2030-01-01' } },
    })
  })

  test.each<[string, Readonly<Record<string, string>>]>([
    ['a different revision', { 'mcp-protocol-version': '2025-11-25' }],
    ['a different method', { 'mcp-method': 'tools/call' }],
  ])('a request gets a 400 if its headers specify %s than its body', async (_, headers) => {
    expect(await sendRequest('tools/list', {}, {}, headers)).toMatchObject({
      status: 400,
      id: 7,
      error: { code: -32_020 },
    })
  })

  test('a request gets a 400 and runs no tool if its header specifies a different tool than its body', async () => {
    const call = { name: 'buy_block', arguments: { coord: '6,6' } }
    const answer = await sendRequest(
      'tools/call',
      call,
      { 'x402/payment': toPayload(createTestPayment(2, 2)) },
      { 'mcp-name': 'get_wall' },
    )
    expect(answer).toMatchObject({ status: 400, error: { code: -32_020 } })
    expect(wall.facilitator.verified).toHaveLength(1)
  })

  test('a request without the fields that the stateless MCP revision requires gets a 400 for invalid params', async () => {
    const answer = await sendRpc(wall, { id: 1, method: 'tools/list' }, { 'mcp-protocol-version': STATELESS })
    expect(answer).toMatchObject({ status: 400, error: { code: -32_602 } })
  })

  test.each(['ping', 'prompts/list', 'nope'])(
    'in the stateless MCP revision, the method %s does not exist',
    async (method) => {
      expect((await sendRequest(method)).error?.code).toBe(-32_601)
    },
  )

  test('a call to an unknown tool gets an error', async () => {
    expect((await sendRequest('tools/call', { name: 'nope' })).error).toEqual({
      code: -32_602,
      message: 'Unknown tool.',
    })
  })

  test('a client cannot subscribe to changes of the tools, because the tools never change', async () => {
    const { status, error } = await sendRequest('subscriptions/listen', { notifications: { toolsListChanged: true } })
    expect([status, error?.code]).toEqual([200, -32_603])
  })
})
