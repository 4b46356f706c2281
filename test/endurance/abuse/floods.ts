/** Floods of the wall, by name: requests that are cheap to make and expensive to serve. */

import type { PaymentRequirements } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { serializeErc6492Signature } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createWallet } from '../../../server/local/wallets.ts'
import { formatEditMessage } from '../../../shared/signing.ts'
import { COLS } from '../../../shared/wall.ts'
import { createFlatPng, GREY, buildPng } from '../../support/picture-files.ts'

/** The inputs of requests: the wall's terms, and a block of the owner with the most blocks. */
export type Target = {
  readonly host: string
  readonly terms: PaymentRequirements
  readonly block: string
  readonly key: `0x${string}`
  readonly wallet: string
}

/** One flood: its number of connections, and a function that encodes its `at`th request. */
export type Flood = {
  readonly connections: number
  readonly createRequest: (at: number, target: Target) => Uint8Array | Promise<Uint8Array>
  // The response does not end: connections are left open, at least until this text arrives, and reopened when closed.
  readonly stays?: string
  readonly drips?: true // another byte is sent each second
  readonly pipelined?: number // how many requests a connection sends at a time, without waiting for a response
}

/** The start of the event that asks a reader to read the canvas. */
export const RESET = 'event: reset'

/** A request as it goes over the wire. */
function encodeRequestBytes(
  line: string,
  { host }: Target,
  headers: Readonly<Record<string, string>> = {},
  body?: Uint8Array | string,
) {
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const fields = Object.entries({ Host: host, ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`${line} HTTP/1.1\r\n${fields.join('')}\r\n`), Buffer.from(body ?? '')])
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const MCP_TYPE = { ...JSON_TYPE, Accept: 'application/json, text/event-stream' }

const createRandomHex = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)).toHex()

/** A payment in the right format with a random signature. */
function createJunkPayment({ terms }: Target): object {
  const authorization = {
    from: `0x${createRandomHex(20)}`,
    to: terms.payTo,
    value: terms.amount,
    validAfter: '0',
    validBefore: String(Math.floor(Date.now() / 1000) + 300),
    nonce: `0x${createRandomHex(32)}`,
  }
  return { x402Version: 2, accepted: terms, payload: { signature: createJunkSignature(), authorization } }
}

/** A payment with a valid signature of a wallet without money. */
async function createPennilessPayment({ terms }: Target): Promise<object> {
  const { payload } = await new ExactEvmScheme(createWallet()).createPaymentPayload(2, terms)
  return { x402Version: 2, accepted: terms, payload }
}

const createPaidRequest = (payment: object, target: Target) =>
  encodeRequestBytes('GET /blocks/next', target, {
    'PAYMENT-SIGNATURE': Buffer.from(JSON.stringify(payment)).toString('base64'),
  })

const createJunkSignature = (): `0x${string}` => `0x${createRandomHex(64)}1b`

/** A repaint of a block with a signature that is not the owner's. */
const createForeignRepaint = (signature: `0x${string}`, target: Target) =>
  encodeRequestBytes(
    `PUT /blocks/${target.block}`,
    target,
    JSON_TYPE,
    JSON.stringify({ ts: Date.now(), signature, message: `not mine ${createRandomHex(4)}` }),
  )

async function createRepaintRequest(at: number, target: Target): Promise<Uint8Array> {
  const fields = { message: `flood ${at} ${createRandomHex(4)}` }
  const ts = Date.now()
  const message = formatEditMessage(new URL(`http://${target.host}`).hostname, target.block, ts, fields)
  const signature = await privateKeyToAccount(target.key).signMessage({ message })
  return encodeRequestBytes(
    `PUT /blocks/${target.block}`,
    target,
    JSON_TYPE,
    JSON.stringify({ ts, signature, ...fields }),
  )
}

const picture = createFlatPng(100, 100, '#5f87af')

// A picture of few bytes that is slow to decode: it has the maximum number of pixels, all of them black.
const blankPicture = buildPng(3840, 2160, GREY, new Uint8Array((3840 + 1) * 2160))

const manyParts = `[${'{},'.repeat(300_000)}{}]`

const manyKeys = `{${Array.from({ length: 4090 }, (_, at) => `"k${at}":1`).join(',')}}`

// About as long as the wall allows a body to be.
const longText = `{"w":1,"h":1,"message":"${'m'.repeat(4_000_000)}"}`

const createRpcBody = (method: string, params: object = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

/** A flood of GET requests to a path that may differ with each request. */
const createGetFlood = (path: (at: number) => string, connections = 32): Flood => ({
  connections,
  createRequest: (at, target) => encodeRequestBytes(`GET ${path(at)}`, target),
})

/** A flood of POST requests to one path, with a body that may differ with each request. */
const createPostFlood = (
  path: string,
  connections: number,
  body: (at: number, target: Target) => Uint8Array | string,
  type: Readonly<Record<string, string>> = JSON_TYPE,
): Flood => ({
  connections,
  createRequest: (at, target) => encodeRequestBytes(`POST ${path}`, target, type, body(at, target)),
})

const PNG_TYPE = { 'Content-Type': 'image/png' }

/** Every flood: requests that cost the wall more than they cost their sender. */
export const FLOODS = {
  preview: createPostFlood('/api/preview', 32, (at) => `{"coord":"${at % COLS},3"}`),
  'wall.png': createGetFlood((at) => `/wall.png?col=${at % 60}&row=${at % 40}&scale=2&cols=80&rows=45`),
  card: createGetFlood((at) => `/card.png?block=${at % COLS},7`),
  'MCP list': createPostFlood('/mcp', 32, () => createRpcBody('tools/list'), MCP_TYPE),
  history: createGetFlood((at) => `/api/history?limit=200&after=${at % 40_000}`),
  agents: createGetFlood((at) => `/api/agents?${at}`),
  space: createGetFlood((at) => `/api/space?limit=20&near=${at % COLS},${at % 90}`, 256),
  'one wallet': {
    connections: 64,
    pipelined: 50,
    createRequest: (_, target) => encodeRequestBytes(`GET /api/agents/${target.wallet}`, target),
  },
  pictures: createPostFlood('/api/pixels?w=8&h=8', 40, () => picture, PNG_TYPE),
  'blank pictures': createPostFlood('/api/pixels?w=8&h=8', 40, () => blankPicture, PNG_TYPE),
  'bodies with many parts': createPostFlood('/areas', 16, () => manyParts),
  atlas: createGetFlood((at) => `/atlas?page=${1 + (at % 200)}`),
  'atlas.atom': createGetFlood((at) => `/atlas.atom?${at}`),
  'a missing page of the atlas': createGetFlood(() => '/atlas?page=9000'),
  'cards of agents': createGetFlood((at) => `/card.png?agent=${1 + (at % 400)}`),
  'space for an area': createPostFlood('/areas', 64, () => '{"w":20,"h":20}'),
  'bad signatures': {
    connections: 128,
    createRequest: (_, target) => createForeignRepaint(createJunkSignature(), target),
  },
  'signatures of wallets that are not deployed': {
    connections: 128,
    createRequest: (_, target) =>
      createForeignRepaint(
        serializeErc6492Signature({
          address: `0x${createRandomHex(20)}`,
          data: `0x${createRandomHex(64)}`,
          signature: createJunkSignature(),
        }),
        target,
      ),
  },
  'bad signatures for names': {
    connections: 64,
    createRequest: (_, target) => {
      const body = { wallet: target.wallet, ts: Date.now(), signature: createJunkSignature(), name: 'not mine' }
      return encodeRequestBytes('PUT /api/agents/me', target, JSON_TYPE, JSON.stringify(body))
    },
  },
  'junk payments': {
    connections: 1500,
    createRequest: (_, target) => createPaidRequest(createJunkPayment(target), target),
  },
  'junk payments over MCP': createPostFlood(
    '/mcp',
    128,
    (_, target) =>
      createRpcBody('tools/call', {
        name: 'buy_block',
        arguments: {},
        _meta: { 'x402/payment': createJunkPayment(target) },
      }),
    MCP_TYPE,
  ),
  'free tools that bring a payment': createPostFlood(
    '/mcp',
    64,
    () => createRpcBody('tools/call', { name: 'find_space', arguments: {}, _meta: { 'x402/payment': {} } }),
    MCP_TYPE,
  ),
  'one unsigned payment': {
    connections: 160,
    createRequest: (() => {
      let payment: object | undefined
      return (_: number, target: Target) => createPaidRequest((payment ??= createJunkPayment(target)), target)
    })(),
  },
  'repaints with thousands of keys': {
    connections: 16,
    createRequest: (_, target) =>
      encodeRequestBytes(`PUT /areas/${target.block}-${target.block}`, target, JSON_TYPE, manyKeys),
  },
  'long texts beside an unreadable payment': createPostFlood('/areas', 16, () => longText, {
    ...JSON_TYPE,
    'PAYMENT-SIGNATURE': 'e30=',
  }),
  'payments from empty wallets': {
    connections: 64,
    createRequest: async (_, target) => createPaidRequest(await createPennilessPayment(target), target),
  },
  repaints: { connections: 48, createRequest: createRepaintRequest },
  'uploads of a byte a second': {
    connections: 100,
    drips: true,
    createRequest: (_, target) =>
      encodeRequestBytes('POST /api/pixels?w=8&h=8', target, { ...PNG_TYPE, 'Content-Length': '1000000' }),
  },
  'headers at a byte a second': {
    connections: 2000,
    drips: true,
    createRequest: (_, target) => Buffer.from(`GET / HTTP/1.1\r\nHost: ${target.host}\r\nX-`),
  },
  'connections that send nothing': { connections: 2000, createRequest: () => new Uint8Array() },
  'live streams': { ...createGetFlood(() => '/api/live', 2000), stays: 'retry: ' },
  'live from 0': {
    connections: 500,
    stays: RESET,
    createRequest: (_, target) => encodeRequestBytes('GET /api/live', target, { 'Last-Event-ID': '0' }),
  },
} as const satisfies Readonly<Record<string, Flood>>

export type FloodName = keyof typeof FLOODS

/** The names of all floods. */
export const FLOOD_NAMES: readonly FloodName[] = Object.keys(FLOODS).filter((name): name is FloodName =>
  Object.hasOwn(FLOODS, name),
)
