/**
 * The free reads and the demand for payment, compared with bare handlers that send the same bytes, and with plain
 * implementations.
 */

import { COLS, TOTAL_BLOCKS } from '../../shared/wall.ts'
import { summariseSamples, type Scenario } from '../findings.ts'
import { repeatRequest, encodeRequest } from '../measure/load.ts'
import { measureInTurns, compareCosts, type Target } from '../measure/pair.ts'
import { readCanvasGzip, type Server, type Servers } from '../servers/servers.ts'

const gzipped = { 'Accept-Encoding': 'gzip' }

// The name of a target that sends the bytes of the wall's own response again.
const SAME = 'a bare handler, same bytes'

/** Reads of the whole wall, with every block sold. */
export const measureCanvas: Scenario = async (servers, pace) => {
  const [wall, naive] = [await servers.getWall(TOTAL_BLOCKS), await servers.getNaiveServer(TOTAL_BLOCKS)]
  const repeatGet = (path: string) => repeatRequest(encodeRequest('GET', path, gzipped))
  const targets: Target[] = [
    await createSameBytesTarget(servers, wall, '/api/canvas', 200, gzipped),
    { name: 'this wall', server: wall, status: 200, startRound: repeatGet('/api/canvas') },
    {
      name: 'SELECT, stringify, gzip',
      server: naive,
      status: 200,
      startRound: repeatGet('/naive/canvas'),
      connections: 2,
    },
  ]
  const samples = await measureInTurns(targets, pace)
  return {
    rows: summariseSamples(samples),
    ratios: {
      'canvas: times a bare handler': compareCosts(samples, 'this wall', SAME),
      'canvas: times naive': compareCosts(samples, 'this wall', 'SELECT, stringify, gzip'),
    },
  }
}

/** The deed of a sold block. */
export const measureDeed: Scenario = async (servers, pace) => {
  const wall = await servers.getWall(TOTAL_BLOCKS)
  const samples = await measureInTurns(
    [
      await createSameBytesTarget(servers, wall, '/blocks/80,45', 200),
      {
        name: 'this wall',
        server: wall,
        status: 200,
        startRound: repeatRequest(encodeRequest('GET', '/blocks/80,45')),
      },
    ],
    pace,
  )
  return {
    rows: summariseSamples(samples),
    ratios: { 'deed: times a bare handler': compareCosts(samples, 'this wall', SAME) },
  }
}

/** A target whose handlers only send the bytes and headers of the wall's responses to these paths, in turn. */
async function createSameBytesTarget(
  servers: Servers,
  wall: Server,
  paths: string | readonly string[],
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<Target> {
  const server = await servers.getFloorServer()
  const same = await Array.fromAsync([paths].flat(), (path) => server.storeResponse(wall, path, headers))
  return { name: SAME, server, status, startRound: repeatInTurn(same, headers) }
}

/** Requests the paths in turn, repeatedly; every round starts with the first path. */
function repeatInTurn(paths: readonly string[], headers: Readonly<Record<string, string>> = {}): Target['startRound'] {
  const requests = paths.map((path) => encodeRequest('GET', path, headers))
  return () => {
    let at = 0
    return () => requests[at++ % requests.length]
  }
}

/** Pages of the feed, 200 sales each. */
export const measureFeed: Scenario = async (servers, pace) => {
  const wall = await servers.getWall(TOTAL_BLOCKS)
  const repeatPageRead = (after: number) => repeatRequest(encodeRequest('GET', `/api/feed?after=${after}&limit=200`))
  const last = TOTAL_BLOCKS - 200
  const samples = await measureInTurns(
    [
      await createSameBytesTarget(servers, wall, `/api/feed?after=${last}&limit=200`, 200),
      { name: 'this wall, first page', server: wall, status: 200, startRound: repeatPageRead(0) },
      { name: 'this wall, last page', server: wall, status: 200, startRound: repeatPageRead(last) },
    ],
    pace,
  )
  return {
    rows: summariseSamples(samples),
    ratios: {
      'feed: times a bare handler': compareCosts(samples, 'this wall, last page', SAME),
      'feed: last page over first': 1 / compareCosts(samples, 'this wall, last page', 'this wall, first page'),
    },
  }
}

/** The size of the wall gzipped in parts that change separately, compared with gzip in one piece. */
export const measureSize: Scenario = async (servers) => {
  const { port } = await servers.getWall(TOTAL_BLOCKS)
  const sent = await readCanvasGzip(port)
  const plain = Bun.gunzipSync(sent)
  const whole = Bun.gzipSync(plain, { level: 6, library: 'zlib' })
  const createRow = (what: string, { length }: Uint8Array) => ({ what, figures: { kB: length / 1000 } })
  return {
    rows: [createRow('plain', plain), createRow('gzip -6 in one piece', whole), createRow('gzip as sent', sent)],
    ratios: { 'size: over gzip in one piece': sent.length / whole.length },
  }
}

const SOLD = 1000

/**
 * The demand for payment, compared with a handler that sends the same bytes (the cheapest response) and with the x402
 * SDK. The SDK makes a new demand for each request.
 */
export const measureDemands: Scenario = async (servers, pace) => {
  const [wall, naive] = [await servers.getWall(SOLD), await servers.getNaiveServer(SOLD)]
  // The blocks of the first row, which a wall sells last. The bare handler also sends a different response for each
  // block, so that it, too, loads each response from memory.
  const blocks = Array.from({ length: COLS }, (_, column) => `/blocks/${column},0`)
  const samples = await measureInTurns(
    [
      await createSameBytesTarget(servers, wall, blocks, 402),
      { name: 'the SDK, each time', server: naive, status: 402, startRound: repeatInTurn(['/sdk']) },
      { name: 'this wall, 160 blocks', server: wall, status: 402, startRound: repeatInTurn(blocks) },
    ],
    pace,
  )
  return {
    rows: summariseSamples(samples),
    ratios: {
      '402: times a bare handler': compareCosts(samples, 'this wall, 160 blocks', SAME),
      '402: times the SDK': compareCosts(samples, 'this wall, 160 blocks', 'the SDK, each time'),
    },
  }
}
