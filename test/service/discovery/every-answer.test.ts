import { expect, test } from 'bun:test'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import type { CanvasReads } from '../../../server/http/canvas/canvas-read.ts'
import type { Pictures, Wallets } from '../../../server/ports.ts'
import { unlimited, createUsedUpLimits } from '../../support/fakes/limits.ts'
import { openNearlySoldWall } from '../../support/nearly-sold.ts'
import { createTestPayment, createWalletAddress } from '../../support/samples.ts'
import { bindPayment } from '../../support/service/bound.ts'
import { expectDocumented, listResponses } from '../../support/service/documented.ts'
import { OPERATIONS } from '../../support/service/operations.ts'
import {
  signAreaEdit,
  signEdit,
  signPainterChoice,
  signRegistration,
  createBodyInit,
} from '../../support/service/signed.ts'
import { readSignInFields, createSignInHeader, createSignInInit } from '../../support/service/signing-in.ts'
import {
  HOST,
  reportChainFault,
  openWall,
  createPaidInit,
  createPaymentFor,
  type Wall,
} from '../../support/service/wall.ts'

// Goal: the OpenAPI document lists every response, and every listed response exists. Method: a way to provoke each
// response of each operation. The test wall compares each response with the document: status, headers, media type, code
// and body.

type Provoke = () => Promise<Response>

// Two shared walls for requests that change nothing: an empty wall, and one on which the first wallet owns block 3,4
// and the second owns block 4,4.
const emptyWall = await openWall()
const soldWall = await openWall()
await soldWall.buyBlock('/blocks/3,4', 1)
await soldWall.buyBlock('/blocks/4,4', 2)

const createAsk =
  (wall: Wall) =>
  (request: string, init?: RequestInit): Provoke =>
  () =>
    wall.sendRequest(request, init)

const ask = createAsk(emptyWall)
const askSoldWall = createAsk(soldWall)

/** Sends the request twice, the second time with the ETag of the first response. */
const repeatWithEtag =
  (request: string): Provoke =>
  async () => {
    const etag = (await soldWall.sendRequest(request)).headers.get('etag') ?? ''
    return await soldWall.sendRequest(request, { headers: { 'if-none-match': etag } })
  }

/** Buys a block on a wall that no other request uses. */
const buyOnNewWall =
  (path: string): Provoke =>
  async () =>
    (await openWall()).buyBlock(path, 1)

/** Sends the request to a wall whose blocks are all in this state. */
const askWithSpace =
  (space: 'claimed' | 'reserved', request: string): Provoke =>
  async () =>
    (await openWall({ ledger: { checkSpace: async () => space } })).sendRequest(request)

/** Sends the request to a wall that accepts no payments, because its chain reports a fault. */
const askWithoutRail =
  (request: string, init?: RequestInit): Provoke =>
  async () => {
    const wall = await openWall()
    await reportChainFault(wall)
    return await wall.sendRequest(request, init)
  }

// A wall whose facilitator does not report the outcome of a payment, and on which block 3,4 is held for the first
// wallet.
const doubtfulWall = await openWall()
doubtfulWall.facilitator.settling = { kind: 'unclear' }
await doubtfulWall.buyBlock('/blocks/3,4', 1)

/** A request to the sold wall, signed in as the `payer`-th wallet. */
async function signRequest(request: string, body: unknown, payer = 1): Promise<RequestInit> {
  const demand = await soldWall.sendRequest(request, createSignInInit(body))
  return createSignInInit(
    body,
    createSignInHeader(readSignInFields(demand, createWalletAddress(payer)), createWalletAddress(payer)),
  )
}
const words = { message: 'hi' }
const [paintBlock, paintArea, rename] = ['POST /blocks/3,4', 'POST /areas/3,4,1x1', 'POST /api/agents/me']
const receipts = `${rename}/receipts`

/** Sends the request to the sold wall, signed in as the `payer`-th wallet. */
const askSignedIn =
  (request: string, body: unknown, payer = 1): Provoke =>
  async () =>
    await soldWall.sendRequest(request, await signRequest(request, body, payer))

const TOO_MUCH = 'x'.repeat(5 * 2 ** 20)
const createToolCall = (name: string, given = {}) =>
  createBodyInit({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } })
const createBytesInit = (body: Uint8Array<ArrayBuffer>, type = 'application/octet-stream'): RequestInit => ({
  headers: { 'Content-Type': type },
  body,
})

/** Sends the request to a wall whose operator has blocked the first payer. */
const askAsDenied =
  (request: string, init: RequestInit): Provoke =>
  async () => {
    const wall = await openWall()
    wall.denied.add(createWalletAddress(1))
    return await wall.sendRequest(request, init)
  }

/** An order for an area of two blocks. */
const createAreaOrder = (fields = {}, headers = {}) => createBodyInit({ w: 2, h: 1, ...fields }, headers)

// A wall on which every client has used up its budget.
const wearyWall = await openWall({ limits: createUsedUpLimits() })

/** How to provoke the responses for which an operation needs its own request or wall. */
const provoked: Readonly<Record<string, Provoke>> = {
  'GET /blocks/next 429': () => wearyWall.buyBlock('/blocks/next', 2),
  'GET /blocks/{coord} 429': () => wearyWall.buyBlock('/blocks/3,4', 2),
  'GET /blocks/next 200': buyOnNewWall('/blocks/next'),
  'GET /blocks/next 400': ask(
    'GET /blocks/next',
    createPaidInit(bindPayment({ block: '3,4' }, createTestPayment(1, 1))),
  ),
  'GET /blocks/next 403': askAsDenied('GET /blocks/next', createPaidInit(createTestPayment(1, 1))),
  'GET /blocks/{coord} 403': askAsDenied('GET /blocks/3,4', createPaidInit(createTestPayment(1, 1))),
  'POST /areas 403': askAsDenied('POST /areas', createAreaOrder({}, createPaidInit(createPaymentFor(2, 1)).headers)),
  'GET /blocks/next 409': askWithSpace('reserved', 'GET /blocks/next'),
  'GET /blocks/next 410': askWithSpace('claimed', 'GET /blocks/next'),
  'GET /blocks/next 503': () => doubtfulWall.buyBlock('/blocks/next', 2),
  'GET /blocks/{coord} 200': buyOnNewWall('/blocks/3,4'),
  'GET /blocks/{coord} 303': askSoldWall('GET /blocks/3,4', { headers: { accept: 'text/html' } }),
  'GET /blocks/{coord} 400': ask('GET /blocks/160,0'),
  'GET /blocks/{coord} 402': ask('GET /blocks/3,4'),
  'GET /blocks/{coord} 409': askSoldWall('GET /blocks/3,4', createPaidInit(createTestPayment(2, 2))),
  'GET /blocks/{coord} 503': () => doubtfulWall.buyBlock('/blocks/3,4', 1),
  'POST /areas 200': async () =>
    (await openWall()).sendRequest('POST /areas', createAreaOrder({}, createPaidInit(createPaymentFor(2, 1)).headers)),
  'POST /areas 400': ask('POST /areas', createAreaOrder({ w: 0 })),
  'POST /areas 409': askSoldWall('POST /areas', createAreaOrder({ at: '2,4' })),
  'POST /areas 410': async () =>
    await (await openWall({}, await openNearlySoldWall(0))).sendRequest('POST /areas', createAreaOrder()),
  'POST /areas 503': () =>
    doubtfulWall.sendRequest('POST /areas', createAreaOrder({}, createPaidInit(createPaymentFor(2, 3)).headers)),
  'PUT /blocks/{coord} 401': askSoldWall('PUT /blocks/3,4', createBodyInit(signEdit(2, '3,4', { message: 'a' }))),
  'POST /blocks/{coord} 200': askSignedIn(paintBlock, words),
  'POST /blocks/{coord} 401': askSignedIn(paintBlock, words, 2),
  'POST /areas/{area} 200': askSignedIn(paintArea, words),
  'POST /areas/{area} 401': askSignedIn(paintArea, words, 2),
  'POST /api/agents/me 401': async () => {
    const { headers = {} } = await signRequest(rename, { name: 'Bob' })
    return await soldWall.sendRequest(rename, { ...createBodyInit({ name: 'Ada' }), headers })
  },
  'POST /api/agents/me 402': askSoldWall(rename, createBodyInit({ name: 'Ada' })),
  'POST /api/agents/me 404': askSignedIn(rename, { name: 'Ada' }, 7),
  'POST /api/agents/me/receipts 400': ask(receipts, createBodyInit([])),
  'POST /api/agents/me/receipts 401': async () => {
    const { headers = {} } = await signRequest(receipts, {})
    return await soldWall.sendRequest(receipts, { ...createBodyInit({ after: 5 }), headers })
  },
  'POST /api/agents/me/receipts 402': askSoldWall(receipts, createBodyInit({})),
  'POST /api/agents/me/receipts 404': askSignedIn(receipts, {}, 7),
  'GET /areas/{area} 400': ask('GET /areas/3,4'),
  'GET /areas/{area}.png 400': ask('GET /areas/3,4.png'),
  'GET /areas/{area}.png 503': () => overloadPictures((at) => `GET /areas/${at},4,1x1.png`),
  'PUT /areas/{area} 401': askSoldWall(
    'PUT /areas/3,4,1x1',
    createBodyInit(signAreaEdit(2, '3,4,1x1', { message: 'a' })),
  ),
  'GET /api/live 400': ask('GET /api/live', { headers: { 'last-event-id': 'x' } }),
  'GET /api/live 503': async () => {
    const { live, sendRequest: askClosed } = await openWall()
    live.close()
    return await askClosed('GET /api/live')
  },
  'GET /api/live/shared 503': async () => {
    const { live, sendRequest: askClosed } = await openWall()
    live.close()
    return await askClosed('GET /api/live/shared')
  },
  'GET /api/history 400': ask('GET /api/history?limit=0'),
  'GET /api/feed 400': ask('GET /api/feed?limit=0'),
  'GET /api/deeds 400': ask('GET /api/deeds?limit=201'),
  'PUT /api/agents/me 401': askSoldWall(
    'PUT /api/agents/me',
    createBodyInit({ ...signRegistration(2, { name: 'Ada' }), wallet: createWalletAddress(1) }),
  ),
  'PUT /api/agents/me/painter 401': askSoldWall(
    'PUT /api/agents/me/painter',
    createBodyInit({ ...signPainterChoice(2, createWalletAddress(9)), wallet: createWalletAddress(1) }),
  ),
  'POST /api/preview 400': ask('POST /api/preview', createBodyInit({ coord: '160,0' })),
  'GET /api/space 400': ask('GET /api/space?w=0&h=2'),
  'POST /api/pixels 400': ask('POST /api/pixels?width=10&height=10', createBytesInit(new Uint8Array(299))),
  'POST /api/pixels 413': ask('POST /api/pixels', createBytesInit(new Uint8Array(5 * 2 ** 20), 'image/png')),
  'POST /api/pixels 503': async () => {
    const wall = await openWall({
      pictures: { ...createFailingDependency<Pictures>(new Error('unused')), convertToPalette: async () => 'busy' },
    })
    return await wall.sendRequest('POST /api/pixels?width=10&height=10', createBytesInit(new Uint8Array(300)))
  },
  'GET /wall.png 400': ask('GET /wall.png?col=159&cols=2'),
  'GET /wall.png 503': () => overloadPictures((at) => `GET /wall.png?col=${at}&cols=1&rows=1`),
  'GET /blocks/{coord}.png 400': ask('GET /blocks/160,0.png'),
  'GET /blocks/{coord}.png 503': () => overloadPictures((at) => `GET /blocks/${at},4.png`),
  'GET /card.png 400': ask('GET /card.png?block=160,0'),
  'GET /card.png 404': ask('GET /card.png?agent=1'),
  'GET /card.png 503': () => overloadPictures((at) => `GET /card.png?block=${at},0`),
  'GET /api/sign 400': ask('GET /api/sign'),
  'POST /api/sign 400': ask('POST /api/sign', createBodyInit({ coord: '160,0' })),
  'POST /api/sign 503': async () => {
    const { sendRequest: askAlone } = await openWall()
    return await findFirstRefusal(600, () => askAlone('POST /api/sign', createBodyInit({})))
  },
  'GET /api/sign 401': askSoldWall('GET /api/sign?kind=set_area&area=3,4,2x1&message=hi'),
  'GET /api/sign 404': ask('GET /api/sign?kind=set_pixels&coord=3,4&message=hi'),
  'GET /api/sign 409': () => doubtfulWall.sendRequest('GET /api/sign?kind=set_pixels&coord=3,4&message=hi'),
  'GET /api/agents/{wallet} 400': ask('GET /api/agents/0x12'),
  'POST /mcp 202': ask('POST /mcp', createBodyInit({ jsonrpc: '2.0', method: 'notifications/initialized' })),
  'POST /mcp 400': ask('POST /mcp', createBodyInit([])),
  'POST /mcp 403': ask('POST /mcp', { ...createToolCall('get_wall'), headers: { host: 'elsewhere.test' } }),
  'POST /mcp 503': async () => {
    const { sendRequest: askAlone } = await openWall()
    return await findFirstRefusal(600, () => askAlone('POST /mcp', createToolCall('get_wall')))
  },
}

/** A valid request for each operation, used to provoke the responses that all operations share. */
const workable: Readonly<Record<string, readonly [request: string, init?: RequestInit]>> = {
  'GET /blocks/next': ['GET /blocks/next'],
  'GET /blocks/{coord}': ['GET /blocks/3,4'],
  'POST /areas': ['POST /areas', createAreaOrder()],
  'PUT /blocks/{coord}': ['PUT /blocks/3,4', createBodyInit(signEdit(1, '3,4', words))],
  'GET /areas/{area}': ['GET /areas/3,4,1x1'],
  'GET /areas/{area}.png': ['GET /areas/3,4,2x2.png'],
  'PUT /areas/{area}': ['PUT /areas/3,4,1x1', createBodyInit(signAreaEdit(1, '3,4,1x1', words))],
  'POST /blocks/{coord}': [paintBlock, createBodyInit(words)],
  'POST /areas/{area}': [paintArea, createBodyInit(words)],
  'POST /api/agents/me': [rename, await signRequest(rename, { name: 'Ada' })],
  'POST /api/agents/me/receipts': [receipts, await signRequest(receipts, {})],
  'GET /api/canvas': ['GET /api/canvas'],
  'GET /api/canvas.bin': ['GET /api/canvas.bin'],
  'GET /api/blocks': ['GET /api/blocks'],
  'GET /api/live': ['GET /api/live'],
  'GET /api/live/shared': ['GET /api/live/shared'],
  'GET /api/tail': ['GET /api/tail'],
  'GET /api/history': ['GET /api/history'],
  'GET /api/feed': ['GET /api/feed'],
  'GET /api/deeds': ['GET /api/deeds'],
  'GET /api/agents': ['GET /api/agents'],
  'PUT /api/agents/me': ['PUT /api/agents/me', createBodyInit(signRegistration(1, { name: 'Ada' }))],
  'PUT /api/agents/me/painter': [
    'PUT /api/agents/me/painter',
    createBodyInit(signPainterChoice(1, createWalletAddress(9))),
  ],
  'POST /api/preview': ['POST /api/preview', createBodyInit({ coord: 'next' })],
  'GET /api/space': ['GET /api/space?w=2&h=2'],
  'POST /api/pixels': ['POST /api/pixels?width=10&height=10', createBytesInit(new Uint8Array(300))],
  'GET /wall.png': ['GET /wall.png?cols=2&rows=2'],
  'GET /blocks/{coord}.png': ['GET /blocks/3,4.png'],
  'GET /card.png': ['GET /card.png'],
  'GET /api/sign': [`GET /api/sign?kind=register&name=Ada&wallet=${createWalletAddress(1)}`],
  'POST /api/sign': ['POST /api/sign', createBodyInit({ coord: 'next' })],
  'GET /api/agents/{wallet}': [`GET /api/agents/${createWalletAddress(1)}`],
  'POST /api/reports': ['POST /api/reports', createBodyInit({ block: '3,4', reason: 'other' })],
  'GET /api/health': ['GET /api/health'],
  'POST /mcp': ['POST /mcp', createToolCall('get_block', { coord: '3,4' })],
}

/** A dependency whose methods all throw this error. */
function createFailingDependency<T extends object>(error: Error): T {
  const fail = (): never => {
    throw error
  }
  return new Proxy({}, { get: () => fail }) as T
}

/** A dependency that throws this error as soon as any property is read. */
function createUnreadableDependency<T extends object>(error: Error): T {
  const get = (): never => {
    throw error
  }
  return new Proxy({}, { get }) as T
}

/** A wall on which every part fails with this error. */
async function openBrokenWall(error: Error): Promise<Wall> {
  const signers = {
    wallets: createFailingDependency<Wallets>(error),
    clock: emptyWall.clock,
    hosts: [HOST],
    applyNewEntries: async () => {},
    limits: unlimited,
  }
  return await openWall({
    seller: createFailingDependency(error),
    blocks: createFailingDependency(error),
    store: createFailingDependency(error),
    ledgerReader: createFailingDependency(error),
    pictures: createFailingDependency(error),
    reports: createFailingDependency(error),
    reads: {
      ...createFailingDependency<CanvasReads>(error),
      canvas: createFailingDependency(error),
      pixels: createFailingDependency(error),
      blocks: createFailingDependency(error),
    },
    live: createFailingDependency(error),
    log: createFailingDependency(error),
    view: createUnreadableDependency(error),
    changing: {
      ...signers,
      blocks: createFailingDependency(error),
      agents: createFailingDependency(error),
      view: createUnreadableDependency(error),
    },
  })
}

/** Requests more distinct pictures in parallel than can be drawn or queued, and returns the first refusal. */
async function overloadPictures(requestAt: (at: number) => string): Promise<Response> {
  const drawn = Promise.withResolvers<Uint8Array<ArrayBuffer>>()
  const pictures: Pictures = {
    ...createFailingDependency<Pictures>(new Error('unused')),
    encode: () => drawn.promise,
    shrink: async (_, width, height) => ({ width, height, indices: new Uint8Array(width * height) }),
  }
  const wall = await openWall({ pictures })
  const answers = Array.from({ length: 100 }, (_, at) => wall.sendRequest(requestAt(at)))
  const refused = await Promise.race(answers)
  drawn.resolve(new Uint8Array(1))
  await Promise.all(answers)
  return refused
}

/** Sends this many requests in parallel, and returns the first response that is not a 200. */
async function findFirstRefusal(times: number, asking: () => Promise<Response>): Promise<Response> {
  const answers = await Promise.all(Array.from({ length: times }, () => asking()))
  return answers.find(({ status }) => status !== 200) ?? Response.error()
}

// Internal errors and store errors are provoked in the same way for all operations. The messages of these errors must
// not leave the process.
const SECRET = '/secret/wall.sqlite is full'
const broken500 = await openBrokenWall(new Error(SECRET))
const broken503 = await openBrokenWall(new StoreUnavailable(SECRET))

/** How to provoke each status, given the valid request of any operation. */
const alike: Readonly<Record<string, (request: string, init?: RequestInit) => Provoke>> = {
  200: askSoldWall,
  304: repeatWithEtag,
  400: (request) => ask(request, createBodyInit({})),
  402: askSoldWall,
  404: ask,
  409: createAsk(doubtfulWall),
  413: (request, init) => ask(request, { ...init, body: TOO_MUCH }),
  429: createAsk(wearyWall),
  500: createAsk(broken500),
  502: askWithoutRail,
  503: createAsk(broken503),
}

const listed = listResponses(emptyWall.app)

/** Every listed response, with the way to provoke it. */
const all = listed.map((answer): readonly [answer: string, provoke: Provoke | undefined] => {
  const [method, path, status = ''] = answer.split(' ')
  const [request, init] = workable[`${method} ${path}`] ?? []
  return [answer, provoked[answer] ?? (request === undefined ? undefined : alike[status]?.(request, init))]
})

test.each(all)('%s: the response matches its description in the OpenAPI document', async (answer, provoke) => {
  const [method = '', path, status] = answer.split(' ')
  if (provoke === undefined) throw new Error(`no entry in this file provokes ${answer}`)
  const response = await provoke()
  expect(response.status).toBe(Number(status))
  if (response.status >= 500) expect(await response.clone().text()).not.toContain(SECRET)
  const operation = OPERATIONS.find((each) => each.method === method && each.path === path)
  if (operation === undefined) throw new Error(`${answer} does not belong to any operation`)
  await expectDocumented(emptyWall.app, response, operation)
})

test('the operator gets alerts for our own bugs, but not for requests that fail because the database is unavailable', () => {
  expect(broken500.logger.alerts.length).toBeGreaterThan(0)
  expect(broken503.logger.alerts).toEqual([])
})

test('every response that this test provokes is in the OpenAPI document', () => {
  expect(Object.keys(provoked).filter((answer) => !listed.includes(answer))).toEqual([])
})
