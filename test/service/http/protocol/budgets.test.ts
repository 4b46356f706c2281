import { expect, test } from 'bun:test'
import { createRateLimitFailure } from '../../../../server/domain/purchase/refusals.ts'
import {
  createRateLimits,
  STREAMS_PER_ADDRESS,
  STREAMS_PER_SITE,
  type RateLimits,
} from '../../../../server/wall/rate-limits.ts'
import { truncateWallet } from '../../../../shared/wallet.ts'
import { createFakeClock } from '../../../support/fakes/clock.ts'
import { unlimited, createUsedUpLimits } from '../../../support/fakes/limits.ts'
import { FORGED } from '../../../support/fakes/wallets.ts'
import { createFlatPng } from '../../../support/picture-files.ts'
import { NOW, createTestPayment, createWalletAddress } from '../../../support/samples.ts'
import { callTool } from '../../../support/service/agent.ts'
import { signEdit, signPainterChoice, signRegistration, createBodyInit } from '../../../support/service/signed.ts'
import { readErrorCode, readJson, openWall, createPaidInit, toPayload } from '../../../support/service/wall.ts'

const createRepaint = (payer: number, message: string) =>
  ['PUT /blocks/3,4', createBodyInit(signEdit(payer, '3,4', { message }))] as const

test('a request beyond its budget is rejected with the time to wait, and the error says that it was not processed', async () => {
  const wall = await openWall({ limits: createUsedUpLimits() })
  const response = await wall.sendRequest('POST /api/preview', createBodyInit({ coord: 'next' }))
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '2'])
  expect(await response.json()).toEqual({
    error: 'too_many_requests',
    message:
      'You have sent too many of these requests. This one was not processed. Wait Retry-After seconds, then send it again.',
    retryAfter: 2,
  })
})

test('purchases, reads of the whole wall and the health check have no request budget', async () => {
  const { sendRequest: ask } = await openWall({ limits: createUsedUpLimits() })
  const blocks = ['/blocks/next', '/blocks/3,4', '/api/canvas', '/api/canvas.bin', '/api/blocks']
  for (const path of [...blocks, '/api/feed', '/api/agents', '/api/health', '/'])
    expect([path, (await ask(`GET ${path}`)).status]).not.toEqual([path, 429])
})

test.each([
  ['pages', ['/api/history', '/api/deeds', '/atlas', '/atlas.atom']],
  ['searches', ['/api/space', '/areas/3,4,1x1']],
  ['pictures', ['/wall.png', '/areas/3,4,1x1.png']],
] as const)('%s share one budget: %j', async (budget, paths) => {
  const { sendRequest: ask } = await openWall({ limits: createUsedUpLimits(budget) })
  for (const path of paths) expect((await ask(`GET ${path}`)).status).toBe(429)
})

test('a picture that is uploaded over HTTP or MCP uses one unit of the upload budget per megapixel, rounded up', async () => {
  let used = 0
  const take: RateLimits['take'] = (name, _, cost = 1) => void (used += name === 'uploads' ? cost : 0)
  const wall = await openWall({ limits: { ...unlimited, take } })
  const image = createFlatPng(2000, 1001, '#000000')
  const sent = await wall.sendRequest('POST /api/pixels', { headers: { 'content-type': 'image/png' }, body: image })
  expect([sent.status, used]).toEqual([200, 3])
  await callTool(wall, 'image_to_pixels', { image: image.toBase64() })
  expect(used).toBe(6)
})

test('a request for a picture that the client has cached uses no budget', async () => {
  let limits: RateLimits = createUsedUpLimits('calls')
  const turning: RateLimits = { take: (...asked) => limits.take(...asked), check: (...asked) => limits.check(...asked) }
  const { sendRequest: ask } = await openWall({ limits: turning })
  const etag = (await ask('GET /blocks/3,4.png')).headers.get('etag') ?? ''
  limits = createUsedUpLimits('pictures')
  expect((await ask('GET /blocks/3,4.png')).status).toBe(429)
  expect((await ask('GET /blocks/3,4.png', { headers: { 'if-none-match': etag } })).status).toBe(304)
})

test('a payment that the ledger knows gets its response over HTTP and MCP, even if the client has used up its budgets', async () => {
  let spent = false
  const createRefusal = () => (spent ? createRateLimitFailure(1000) : undefined)
  const wall = await openWall({ limits: { take: createRefusal, check: createRefusal } })
  const receipt = (await (await wall.buyBlock('/blocks/3,4', 1)).json()) as object
  spent = true
  const again = await wall.buyBlock('/blocks/3,4', 1)
  expect([again.status, await again.json()]).toEqual([200, receipt])
  const overMcp = await callTool(wall, 'buy_block', { coord: '3,4' }, toPayload(createTestPayment(1, 1)))
  expect(overMcp.structuredContent).toMatchObject(receipt)
  expect(await readErrorCode(await wall.buyBlock('/blocks/5,6', 2))).toBe('too_many_requests')
})

test('after too many junk payments from an IP address, a payment from that address still buys a block if its payer signed it', async () => {
  const { sendRequest: ask, buyBlock } = await openWall({ limits: createUsedUpLimits('payments') })
  const forged = { ...createTestPayment(2, 2), signature: FORGED }
  expect(await readErrorCode(await ask('GET /blocks/3,4', createPaidInit(forged)))).toBe('too_many_requests')
  expect((await buyBlock('/blocks/3,4', 1)).status).toBe(200)
})

test('rejected payments count against the payment budget, but payments that fail because of an error in the service do not', async () => {
  const taken: string[] = []
  const limits: RateLimits = { take: (name) => void taken.push(name), check: () => undefined }
  const wall = await openWall({ limits })
  const { verification } = wall.facilitator
  wall.facilitator.verification = { kind: 'invalid', reason: 'invalid_exact_evm_insufficient_balance' }
  expect((await wall.buyBlock('/blocks/3,4', 2)).status).toBe(402)
  wall.facilitator.verification = verification
  expect(taken).toEqual(['payments'])
  wall.facilitator.settling = { kind: 'unclear' }
  expect((await wall.buyBlock('/blocks/3,4', 1)).status).toBe(503)
  expect(taken).toEqual(['payments'])
})

test('a block can be repainted thirty times in a row and then once per second, and only accepted repaints are logged', async () => {
  const clock = createFakeClock(NOW)
  const { sendRequest: ask, buyBlock, db } = await openWall({ limits: createRateLimits(clock) })
  await buyBlock('/blocks/3,4', 1)
  const statuses: number[] = []
  for (let at = 0; at < 40; at++) statuses.push((await ask(...createRepaint(1, `at once ${at}`))).status)
  expect(statuses).toEqual([...Array.from({ length: 30 }, () => 200), ...Array.from({ length: 10 }, () => 429)])
  clock.advance(2000)
  for (let at = 0; at < 5; at++) statuses.push((await ask(...createRepaint(1, `later ${at}`))).status)
  expect(statuses.slice(40)).toEqual([200, 200, 429, 429, 429])
  expect((await db.log.readAfter(0, 100)).length).toBe(1 + 32)
})

test('repaints with a bad signature do not use up the budget of the block, and after 300 of them their sender gets 429', async () => {
  const { sendRequest: ask, buyBlock, db } = await openWall({ limits: createRateLimits(createFakeClock(NOW)) })
  await buyBlock('/blocks/3,4', 1)
  const bad = createRepaint(2, 'not mine')
  for (let at = 0; at < 300; at++) expect((await ask(...bad)).status).toBe(401)
  expect(await readErrorCode(await ask(...bad))).toBe('too_many_requests')
  expect((await db.log.readAfter(0, 10)).length).toBe(1)
})

test.each([
  ['unknown fields', createBodyInit({ ...signEdit(1, '3,4', { message: 'hello' }), extra: 1 }), 'invalid_body'],
  ['a message that is too long', createBodyInit(signEdit(1, '3,4', { message: 'a'.repeat(141) })), 'invalid_message'],
  ['invalid JSON', createBodyInit('{'), 'invalid_body'],
  ['too many bytes', createBodyInit({ message: 'a'.repeat(5000) }), 'body_too_large'],
] as const)('after 300 changes that are rejected for %s, their sender gets 429', async (_, sent, code) => {
  const { sendRequest: ask, buyBlock } = await openWall({ limits: createRateLimits(createFakeClock(NOW)) })
  await buyBlock('/blocks/3,4', 1)
  for (let at = 0; at < 300; at++) expect(await readErrorCode(await ask('PUT /blocks/3,4', sent))).toBe(code)
  expect(await readErrorCode(await ask('PUT /blocks/3,4', sent))).toBe('too_many_requests')
})

test('an order for an area counts as an upload, unless the wall knows its payment', async () => {
  const order = { at: '3,4', w: 1, h: 1 }
  const createPaidOrder = (payer: number) =>
    createBodyInit(order, createPaidInit(createTestPayment(payer, payer)).headers)
  let limits: RateLimits = unlimited
  const turning: RateLimits = { take: (...asked) => limits.take(...asked), check: (...asked) => limits.check(...asked) }
  const { sendRequest: ask } = await openWall({ limits: turning })
  expect((await ask('POST /areas', createPaidOrder(1))).status).toBe(200)
  limits = createUsedUpLimits('uploads')
  expect((await ask('POST /areas', createPaidOrder(1))).status).toBe(200)
  expect(await readErrorCode(await ask('POST /areas', createPaidOrder(2)))).toBe('too_many_requests')
  const unreadable = createBodyInit(order, { 'PAYMENT-SIGNATURE': 'e30=' })
  expect(await readErrorCode(await ask('POST /areas', unreadable))).toBe('too_many_requests')
})

test('a payment with a body that cannot be read counts as a rejected payment', async () => {
  const taken: string[] = []
  const { sendRequest: ask } = await openWall({
    limits: { take: (name) => void taken.push(name), check: () => undefined },
  })
  const sent = createBodyInit('{', createPaidInit(createTestPayment(1, 1)).headers)
  expect(await readErrorCode(await ask('POST /areas', sent))).toBe('invalid_body')
  expect(taken).toEqual(['uploads', 'payments'])
})

test.each([
  ['its name', 'PUT /api/agents/me', (at: number) => signRegistration(1, { name: `Ada ${at}` }), { name: 'Ada 300' }],
  [
    'its painter',
    'PUT /api/agents/me/painter',
    (at: number) => signPainterChoice(1, createWalletAddress(9), NOW + at),
    { painter: truncateWallet(createWalletAddress(9)) },
  ],
] as const)(
  'a wallet that changes %s again and again gets 429 after 300 changes, and its last accepted change remains in effect',
  async (_, request, at, expected) => {
    const { sendRequest: ask, buyBlock } = await openWall({ limits: createRateLimits(createFakeClock(NOW)) })
    await buyBlock('/blocks/3,4', 1)
    const statuses: number[] = []
    for (let time = 1; time <= 301; time++) statuses.push((await ask(request, createBodyInit(at(time)))).status)
    expect(statuses).toEqual([...Array.from({ length: 300 }, () => 200), 429])
    expect(await readJson(await ask(`GET /api/agents/${createWalletAddress(1)}`))).toMatchObject(expected)
  },
)

test('an address can open a limited number of live streams and replace one that it closed, and the limit does not affect other addresses', async () => {
  const { live } = await openWall()
  const openStream = async (address: string) => await live.answer(new Request('http://wall.test/api/live'), address)
  const streams: Response[] = []
  for (let at = 0; at < STREAMS_PER_ADDRESS; at++) streams.push(await openStream('203.0.113.9'))
  const beyond = await openStream('203.0.113.9')
  expect([beyond.status, beyond.headers.get('retry-after'), await readErrorCode(beyond)]).toEqual([
    429,
    '60',
    'too_many_requests',
  ])
  expect((await openStream('203.0.113.10')).status).toBe(200)
  await streams[7]?.body?.cancel()
  expect((await openStream('203.0.113.9')).status).toBe(200)
  expect((await openStream('203.0.113.9')).status).toBe(429)
})

test('all addresses of an IPv6 site together can open a limited number of live streams, and the limit does not affect other sites', async () => {
  const { live } = await openWall()
  const openStreamFrom = async (network: string) => await live.answer(new Request('http://wall.test/api/live'), network)
  for (let at = 0; at < STREAMS_PER_SITE; at++)
    expect((await openStreamFrom(`2001:db8:7:${(at % 64).toString(16)}::/64`)).status).toBe(200)
  const beyond = await openStreamFrom('2001:db8:7:ffff::/64')
  expect([beyond.status, await readErrorCode(beyond)]).toEqual([429, 'too_many_requests'])
  expect((await openStreamFrom('2001:db8:8:ffff::/64')).status).toBe(200)
})

test('a call over MCP is rejected if the budget for its tool is used up, but other tools still work', async () => {
  const { sendRequest: ask } = await openWall({ limits: createUsedUpLimits('searches') })
  const callOverMcp = (name: string, given: object = {}) =>
    ask(
      'POST /mcp',
      createBodyInit({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
    )
  expect(await (await callOverMcp('find_space')).json()).toMatchObject({
    result: { isError: true, structuredContent: { error: 'too_many_requests', retryAfter: 2 } },
  })
  expect(await (await callOverMcp('get_wall')).json()).toMatchObject({ result: { structuredContent: { canvas: {} } } })
})

test('a block accepts 1,440 repaints per day, and the next one is rejected with the time to wait', async () => {
  const clock = createFakeClock(NOW)
  const limits = createRateLimits(clock)
  const { sendRequest: ask, buyBlock } = await openWall({ limits })
  await buyBlock('/blocks/3,4', 1)
  for (let taken = 0; taken < 1440; taken += 1) expect(limits.take('daily repaints', '3,4')).toBeUndefined()
  const refused = await ask(...createRepaint(1, 'too much'))
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '50'])
  expect(await readJson(refused)).toMatchObject({ message: expect.stringContaining('repaints for today') })
  clock.advance(50_000)
  expect((await ask(...createRepaint(1, 'again'))).status).toBe(200)
})
