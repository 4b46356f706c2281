/**
 * The cost of each free address on a full wall. Requests to addresses with parameters vary, so few of their responses
 * can come from a cache.
 */

import { privateKeyToAccount } from 'viem/accounts'
import { COLS, ROWS, TOTAL_BLOCKS } from '../../shared/wall.ts'
import type { Scenario } from '../findings.ts'
import { readCpuUs, readMainThreadUs } from '../measure/cpu.ts'
import { runLoad, encodeRequest } from '../measure/load.ts'
import { computeMedian, type Pace } from '../measure/pair.ts'
import { toPrivateKey } from '../servers/seed.ts'
import { countAgents, type Server } from '../servers/servers.ts'

/** Measures the requests to each free address in turn. */
export const measureFreeReads: Scenario = async (servers, pace) => {
  const wall = await servers.getWall(TOTAL_BLOCKS)
  const rows = []
  for (const [what, asked] of Object.entries(ASKED)) rows.push({ what, figures: await measureCost(wall, asked, pace) })
  const dearest = Math.max(...rows.map(({ figures }) => figures['main thread µs']))
  return { rows, ratios: { 'free addresses: ms of the main thread for the most expensive': dearest / 1000 } }
}

/** Makes request number `at` to one address: a path, or a path and a JSON body. */
type Asked = (at: number) => string | readonly [path: string, body: string]

const AGENTS = countAgents(TOTAL_BLOCKS)
const PAGES = 200
const SALES = 14_000

const chooseWallet = (at: number) => wallets[at % wallets.length] ?? ''
const wallets = Array.from({ length: 50 }, (_, at) => privateKeyToAccount(toPrivateKey(1 + at)).address)

const chooseBlock = (at: number) => `${(at * 7) % COLS},${(at * 11) % ROWS}`
const chooseArea = (at: number) => `${(at * 7) % (COLS - 20)},${(at * 11) % (ROWS - 20)},20x20`
const chooseAgent = (at: number) => 1 + (at % AGENTS)
const chooseStart = (at: number) => (at * 37) % SALES

const ASKED: Readonly<Record<string, Asked>> = {
  '/api/canvas': () => '/api/canvas',
  '/api/canvas.bin': () => '/api/canvas.bin',
  '/api/blocks': () => '/api/blocks',
  '/api/feed, 200 sales': (at) => `/api/feed?after=${chooseStart(at)}&limit=200`,
  '/api/history, 200 changes': (at) => `/api/history?after=${chooseStart(at)}&limit=200`,
  '/api/deeds, 200 deeds': (at) => `/api/deeds?after=${chooseStart(at)}&limit=200`,
  '/api/tail': () => '/api/tail',
  '/api/agents': () => '/api/agents',
  '/api/agents/{wallet}, 200 blocks': (at) => `/api/agents/${chooseWallet(at)}`,
  '/api/agents/{wallet}?since': (at) => `/api/agents/${chooseWallet(at)}?since=0&limit=1`,
  '/api/space, 20 blocks': (at) => `/api/space?limit=20&near=${chooseBlock(at)}`,
  '/api/sign': (at) => `/api/sign?kind=set_pixels&coord=${chooseBlock(at)}&message=a`,
  '/api/preview, a block': (at) => ['/api/preview', JSON.stringify({ coord: chooseBlock(at) })],
  '/api/preview, next of 20x20': () => ['/api/preview', JSON.stringify({ coord: 'next', w: 20, h: 20 })],
  '/': () => '/',
  '/?work': (at) => `/?work=${chooseBlock(at)}`,
  '/atlas': (at) => `/atlas?page=${1 + (at % PAGES)}`,
  '/atlas?agent': (at) => `/atlas?agent=${chooseAgent(at)}`,
  '/atlas?list=agents': () => '/atlas?list=agents',
  '/atlas.atom': () => '/atlas.atom',
  '/oembed': (at) => `/oembed?url=${encodeURIComponent(`http://127.0.0.1/?work=${chooseBlock(at)}`)}`,
  '/blocks/{coord}': (at) => `/blocks/${chooseBlock(at)}`,
  '/areas/{area}, 400 blocks': (at) => `/areas/${chooseArea(at)}`,
  '/blocks/{coord}.png': (at) => `/blocks/${chooseBlock(at)}.png`,
  '/areas/{area}.png, 0.6 megapixels': (at) => `/areas/${chooseArea(at)}.png?scale=4`,
  // Requests more different pictures than the wall caches.
  '/wall.png, 3.6 megapixels': (at) => `/wall.png?col=${at % 30}&row=${at % 20}&cols=130&rows=70&scale=2`,
  '/card.png?block': (at) => `/card.png?block=${chooseBlock(at)}`,
  '/card.png?work': (at) => `/card.png?work=${chooseBlock(at)}`,
  '/card.png?agent': (at) => `/card.png?agent=${chooseAgent(at)}`,
  '/openapi.json': () => '/openapi.json',
  '/mcp, tools/list': () => ['/mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })],
}

// Two connections, so that one request is in progress while the other's response is in transit.
const CONNECTIONS = 2

// Work that is done for the first time does not count.
const WARM_UP_MS = 200

async function measureCost(wall: Server, asked: Asked, { rounds, ms }: Pace) {
  let at = 0
  const takeNext = () => createRequest(asked(at), at++)
  const sendRequests = async (forMs: number) =>
    await runLoad({ port: wall.port, getNextRequest: takeNext, connections: CONNECTIONS, ms: forMs })
  await sendRequests(Math.min(ms, WARM_UP_MS))
  const costs: { readonly main: number; readonly all: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const [main, all] = [readMainThreadUs(wall.pid), readCpuUs(wall.pid)]
    const { requests, statuses } = await sendRequests(ms)
    if ((statuses.get(200) ?? 0) < requests)
      throw new Error(`the wall sent the statuses ${JSON.stringify([...statuses])}`)
    costs.push({ main: (readMainThreadUs(wall.pid) - main) / requests, all: (readCpuUs(wall.pid) - all) / requests })
  }
  return {
    'main thread µs': computeMedian(costs.map(({ main }) => main)),
    'all CPU µs': computeMedian(costs.map(({ all }) => all)),
  }
}

const JSON_BODY = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }

/** A request from a separate client address, so that no client reaches its rate limit. */
function createRequest(asked: ReturnType<Asked>, client: number): Uint8Array {
  const [path, body] = typeof asked === 'string' ? [asked] : asked
  const address = [24, 16, 8, 0].map((bits) => ((0x0a_00_00_00 + client) >> bits) & 255).join('.')
  const headers = { 'Accept-Encoding': 'gzip', 'X-Forwarded-For': address }
  return body === undefined
    ? encodeRequest('GET', path, headers)
    : encodeRequest('POST', path, { ...headers, ...JSON_BODY }, body)
}
