/** The free reads and the demand for payment, against handlers that do nothing but send bytes, and against the plain way. */

import { TOTAL_BLOCKS } from '../../shared/wall.ts'
import { rowsOf, type Scenario } from '../findings.ts'
import { always, requestBytes } from '../measure/load.ts'
import { pair, timesAsCheap, type Target } from '../measure/pair.ts'
import { canvasGzip } from '../servers/servers.ts'

const gzipped = { 'Accept-Encoding': 'gzip' }

/** The whole wall, full. */
export const canvas: Scenario = async (servers, pace) => {
  const [wall, naive] = [await servers.wall(TOTAL_BLOCKS), await servers.naive(TOTAL_BLOCKS)]
  const get = (path: string) => always(requestBytes('GET', path, gzipped))
  const files = await servers.nginx(TOTAL_BLOCKS)
  const targets: Target[] = [
    { name: 'a bare handler, same bytes', server: naive, status: 200, requests: get('/raw') },
    { name: 'a static route, same bytes', server: naive, status: 200, requests: get('/static') },
    ...(files === undefined ? [] : [{ name: 'nginx, a file', server: files, status: 200, requests: get('/canvas') }]),
    { name: 'this wall', server: wall, status: 200, requests: get('/api/canvas') },
    { name: 'SELECT, stringify, gzip', server: naive, status: 200, requests: get('/naive/canvas'), connections: 2 },
  ]
  const samples = await pair(targets, pace)
  return {
    rows: rowsOf(samples),
    ratios: {
      'canvas: times a bare handler': timesAsCheap(samples, 'this wall', 'a bare handler, same bytes'),
      'canvas: times naive': timesAsCheap(samples, 'this wall', 'SELECT, stringify, gzip'),
    },
  }
}

/** The whole wall, to a reader who has it already. */
export const unchanged: Scenario = async (servers, pace) => {
  const [wall, naive] = [await servers.wall(TOTAL_BLOCKS), await servers.naive(TOTAL_BLOCKS)]
  const head = await fetch(`http://127.0.0.1:${wall.port}/api/canvas`, { method: 'HEAD' })
  const etag = head.headers.get('etag') ?? ''
  const held = (path: string, tag: string) => always(requestBytes('GET', path, { ...gzipped, 'If-None-Match': tag }))
  const samples = await pair(
    [
      { name: 'a bare handler', server: naive, status: 304, requests: held('/304', 'W/"same"') },
      { name: 'this wall', server: wall, status: 304, requests: held('/api/canvas', etag) },
    ],
    pace,
  )
  return {
    rows: rowsOf(samples),
    ratios: { 'unchanged: times a bare handler': timesAsCheap(samples, 'this wall', 'a bare handler') },
  }
}

/** Pages of the feed, 200 sales each. */
export const feed: Scenario = async (servers, pace) => {
  const [wall, naive] = [await servers.wall(TOTAL_BLOCKS), await servers.naive(TOTAL_BLOCKS)]
  const page = (path: string, after: number) => always(requestBytes('GET', `${path}?after=${after}&limit=200`))
  const last = TOTAL_BLOCKS - 200
  const samples = await pair(
    [
      { name: 'a bare handler', server: naive, status: 200, requests: always(requestBytes('GET', '/hello')) },
      { name: 'SELECT and stringify', server: naive, status: 200, requests: page('/naive/feed', last) },
      { name: 'this wall, first page', server: wall, status: 200, requests: page('/api/feed', 0) },
      { name: 'this wall, last page', server: wall, status: 200, requests: page('/api/feed', last) },
    ],
    pace,
  )
  return {
    rows: rowsOf(samples),
    ratios: {
      'feed: last page over first': 1 / timesAsCheap(samples, 'this wall, last page', 'this wall, first page'),
      'feed: times naive': timesAsCheap(samples, 'this wall, last page', 'SELECT and stringify'),
    },
  }
}

/** What the parts that change apart cost in size. */
export const size: Scenario = async (servers) => {
  const { port } = await servers.wall(TOTAL_BLOCKS)
  const sent = await canvasGzip(port)
  const plain = Bun.gunzipSync(sent)
  const whole = Bun.gzipSync(plain, { level: 6, library: 'zlib' })
  const row = (what: string, { length }: Uint8Array) => ({ what, figures: { kB: length / 1000 } })
  return {
    rows: [row('plain', plain), row('gzip -6 in one go', whole), row('gzip as sent', sent)],
    ratios: { 'size: over gzip in one go': sent.length / whole.length },
  }
}

const SOLD = 1000

/** The demand for payment, against the cheapest answer there is, and against the x402 SDK making it each time. */
export const demands: Scenario = async (servers, pace) => {
  const [wall, naive] = [await servers.wall(SOLD), await servers.naive(SOLD)]
  const get = (path: string) => always(requestBytes('GET', path))
  // Blocks of the first row, which a wall sells last.
  const blocks = Array.from({ length: 160 }, (_, column) => requestBytes('GET', `/blocks/${column},0`))
  const inTurn = () => {
    let at = 0
    return () => blocks[at++ % blocks.length]
  }
  const samples = await pair(
    [
      { name: 'hello, status 200', server: naive, status: 200, requests: get('/hello') },
      { name: 'the SDK, each time', server: naive, status: 402, requests: get('/sdk') },
      { name: 'this wall, 160 blocks', server: wall, status: 402, requests: inTurn },
    ],
    pace,
  )
  return {
    rows: rowsOf(samples),
    ratios: {
      '402: times hello': timesAsCheap(samples, 'this wall, 160 blocks', 'hello, status 200'),
      '402: times the SDK': timesAsCheap(samples, 'this wall, 160 blocks', 'the SDK, each time'),
    },
  }
}
