/** What strangers flood the wall with: requests that are cheap to make, by what they aim at. */

import { privateKeyToAccount } from 'viem/accounts'
import { editMessage } from '../../../shared/signing.ts'
import { COLS } from '../../../shared/wall.ts'
import { flatPng, GREY, pngOf } from '../../support/picture-files.ts'

/** What requests are made of: the wall's terms, a block with its owner's key, and the owner's address. */
export type Target = {
  readonly host: string
  readonly terms: object
  readonly block: string
  readonly key: `0x${string}`
  readonly wallet: string
}

/** One flood: how many connections it takes, and the bytes of its requests in turn. */
export type Flood = {
  readonly connections: number
  readonly request: (at: number, target: Target) => Uint8Array | Promise<Uint8Array>
  readonly stays?: true // the answer does not end: connections are left open, and opened anew where they are closed
}

/** A request as it goes over the wire. */
function bytesOf(
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

const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)).toHex()

/** A payment in the right shape that nobody has signed. */
function junkPayment({ terms }: Target): string {
  const authorization = {
    from: `0x${random(20)}`,
    to: 'payTo' in terms ? terms.payTo : '',
    value: 'amount' in terms ? terms.amount : '',
    validAfter: '0',
    validBefore: String(Math.floor(Date.now() / 1000) + 300),
    nonce: `0x${random(32)}`,
  }
  const payload = { signature: `0x${random(64)}1b`, authorization }
  return Buffer.from(JSON.stringify({ x402Version: 2, accepted: terms, payload })).toString('base64')
}

async function repaint(at: number, target: Target): Promise<Uint8Array> {
  const fields = { message: `flood ${at} ${random(4)}` }
  const ts = Date.now()
  const message = editMessage(new URL(`http://${target.host}`).hostname, target.block, ts, fields)
  const signature = await privateKeyToAccount(target.key).signMessage({ message })
  return bytesOf(`PUT /blocks/${target.block}`, target, JSON_TYPE, JSON.stringify({ ts, signature, ...fields }))
}

const picture = flatPng(100, 100, '#5f87af')

// Few bytes that take long to read: as many pixels as are read at all, every one of them black.
const blankPicture = pngOf(3840, 2160, GREY, new Uint8Array((3840 + 1) * 2160))

const manyParts = `[${'{},'.repeat(300_000)}{}]`

const call = (method: string, params: object = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

/** Every flood: what costs the wall more than it costs whoever asks. */
export const FLOODS = {
  preview: {
    connections: 32,
    request: (at, target) => bytesOf('POST /api/preview', target, JSON_TYPE, `{"coord":"${at % COLS},3"}`),
  },
  'wall.png': {
    connections: 32,
    request: (at, target) => bytesOf(`GET /wall.png?col=${at % 60}&row=${at % 40}&scale=2&cols=80&rows=45`, target),
  },
  card: { connections: 32, request: (at, target) => bytesOf(`GET /card.png?block=${at % COLS},7`, target) },
  'MCP list': {
    connections: 32,
    request: (_, target) =>
      bytesOf('POST /mcp', target, { ...JSON_TYPE, Accept: 'application/json' }, call('tools/list')),
  },
  history: {
    connections: 32,
    request: (at, target) => bytesOf(`GET /api/history?limit=200&after=${at % 40_000}`, target),
  },
  agents: { connections: 32, request: (at, target) => bytesOf(`GET /api/agents?${at}`, target) },
  space: {
    connections: 256,
    request: (at, target) => bytesOf(`GET /api/space?limit=20&near=${at % COLS},${at % 90}`, target),
  },
  'one wallet': { connections: 64, request: (_, target) => bytesOf(`GET /api/agents/${target.wallet}`, target) },
  pictures: {
    connections: 40,
    request: (_, target) => bytesOf('POST /api/pixels?w=8&h=8', target, { 'Content-Type': 'image/png' }, picture),
  },
  'blank pictures': {
    connections: 40,
    request: (_, target) => bytesOf('POST /api/pixels?w=8&h=8', target, { 'Content-Type': 'image/png' }, blankPicture),
  },
  'bodies of many parts': {
    connections: 16,
    request: (_, target) => bytesOf('POST /areas', target, JSON_TYPE, manyParts),
  },
  atlas: { connections: 32, request: (at, target) => bytesOf(`GET /atlas?page=${1 + (at % 200)}`, target) },
  'atlas.atom': { connections: 32, request: (at, target) => bytesOf(`GET /atlas.atom?${at}`, target) },
  'a page of the atlas that is not there': {
    connections: 32,
    request: (_, target) => bytesOf('GET /atlas?page=9000', target),
  },
  'cards of agents': {
    connections: 32,
    request: (at, target) => bytesOf(`GET /card.png?agent=${1 + (at % 400)}`, target),
  },
  'room for an area': {
    connections: 64,
    request: (_, target) => bytesOf('POST /areas', target, JSON_TYPE, '{"w":20,"h":20}'),
  },
  'bad signatures': {
    connections: 128,
    request: (at, target) =>
      bytesOf(
        `PUT /blocks/${target.block}`,
        target,
        JSON_TYPE,
        JSON.stringify({ ts: Date.now(), signature: `0x${random(64)}1b`, message: `not mine ${at}` }),
      ),
  },
  'junk payments': {
    connections: 1000,
    request: (_, target) => bytesOf('GET /blocks/next', target, { 'PAYMENT-SIGNATURE': junkPayment(target) }),
  },
  repaints: { connections: 48, request: repaint },
  'live from 0': {
    connections: 500,
    stays: true,
    request: (_, target) => bytesOf('GET /api/live', target, { 'Last-Event-ID': '0' }),
  },
} as const satisfies Readonly<Record<string, Flood>>

export type FloodName = keyof typeof FLOODS
