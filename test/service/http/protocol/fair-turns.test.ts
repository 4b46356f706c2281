import { expect, test } from 'bun:test'
import { createUsedUpLimits } from '../../../support/fakes/limits.ts'
import { FORGED } from '../../../support/fakes/wallets.ts'
import { createTestPayment } from '../../../support/samples.ts'
import { callTool, postBody } from '../../../support/service/agent.ts'
import { createBodyInit } from '../../../support/service/signed.ts'
import { readErrorCode, openWall, createPaidInit, toPayload } from '../../../support/service/wall.ts'

// Goal: a sender without money delays nobody else. Method: that sender sends many requests in parallel, and the
// responses to other senders must arrive early.

const FLOOD = 200

const createToolCall = (name: string, args: object, payment: unknown) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args, _meta: { 'x402/payment': payment } },
  })

test.each([
  ['calls to a free tool with a payment', 'get_wall', {}, toPayload(createTestPayment(1, 1))],
  ['calls to a paid tool with a payment that cannot be read', 'buy_block', { coord: '3,4' }, {}],
] as const)('if the budget of MCP calls is used up, the wall rejects %s', async (_, name, args, payment) => {
  const wall = await openWall({ limits: createUsedUpLimits('calls') })
  expect(await readErrorCode(await postBody(wall, createToolCall(name, args, payment)))).toBe('too_many_requests')
})

test.each([
  [
    'forged payments over HTTP',
    (at: number) =>
      ['GET /blocks/3,4', createPaidInit({ ...createTestPayment(2, at + 1), signature: FORGED })] as const,
  ],
  [
    'forged payments over MCP',
    (at: number) =>
      [
        'POST /mcp',
        createBodyInit(
          JSON.parse(
            createToolCall(
              'buy_block',
              { coord: '3,4' },
              toPayload({ ...createTestPayment(2, at + 1), signature: FORGED }),
            ),
          ),
        ),
      ] as const,
  ],
  ['searches for space', () => ['GET /api/space?w=2&h=2', {}] as const],
])(
  'during a flood of %s from one address, requests from another address get responses before half of the flood is served',
  async (_, request) => {
    const wall = await openWall({ trustedHops: 1 })
    // Has the reads of the whole wall built first, because the requests below would otherwise wait for them.
    await wall.sendRequest('GET /api/health')
    const ended: string[] = []
    const flood = Array.from({ length: FLOOD }, async (_, at) => {
      const [line, { headers = {}, ...rest }] = request(at) as [
        string,
        { headers?: Record<string, string>; body?: string },
      ]
      await wall.sendRequest(line, { ...rest, headers: { ...headers, 'x-forwarded-for': '203.0.113.9' } })
      ended.push('flood')
    })
    const askAndRecord = async (name: string, line: string, init: object) => {
      const response = await wall.sendRequest(line, { ...init })
      ended.push(name)
      return response.status
    }
    const statuses = await Promise.all([
      askAndRecord('search', 'GET /api/space?w=3&h=3', {}),
      askAndRecord('preview', 'POST /api/preview', createBodyInit({ coord: '5,6' })),
      askAndRecord('purchase', 'GET /blocks/7,8', createPaidInit(createTestPayment(1, 1))),
      callTool(wall, 'get_wall').then(() => ended.push('mcp') && 200),
    ])
    await Promise.all(flood)
    expect(statuses).toEqual([200, 200, 200, 200])
    // Only the search runs entirely on the main thread; the timing of other threads depends on the machine.
    expect(ended.indexOf('search')).toBeLessThan(FLOOD / 4)
    for (const name of ['preview', 'purchase', 'mcp']) expect(ended.indexOf(name)).toBeLessThan(FLOOD / 2)
  },
)
