/** SQLite compared with PostgreSQL, and one instance with three: the cost of surviving the loss of a machine. */

import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { openStore } from '../../db/open.ts'
import { waitUntilArmed, startWall, type WallProcess } from '../../server/local/wall-process.ts'
import { formatRegisterMessage } from '../../shared/signing.ts'
import { startPostgres, type PostgresServer } from '../../test/support/postgres/server.ts'
import type { Row, Scenario } from '../findings.ts'
import { pinProcess } from '../measure/cpu.ts'
import { repeatRequest, runLoad, encodeRequest, sendOnce } from '../measure/load.ts'
import { computeMedian, measureInTurns, computePercentile, compareCosts, type Pace } from '../measure/pair.ts'
import { toPrivateKey, NETWORK } from '../servers/seed.ts'
import { countAgents, QUIET, toServer, SERVERS_ON, type Server } from '../servers/servers.ts'
import { sellAll } from '../servers/store-sales.ts'
import { startStubServices, type StubServices } from '../servers/stub-services.ts'
import { createRepaintSigner } from './owners.ts'
import { signPayments } from './purchases.ts'

type Place = Parameters<typeof openStore>[0]

const BLOCKS = 300
const CONNECTIONS = 16

// Enough requests for a stable rate, but few enough to sign in advance.
const REPAINTS_PER_MS = 0.5
const PURCHASES_PER_MS = 0.1

// How long a flush takes on a slow disk, such as a network disk.
const FLUSH_MS = 4

const LAGS_A_ROUND = 20
const CANVAS_LAGS_A_ROUND = 2

export const measureEngines: Scenario = async (servers, pace) => {
  // Commits wait for the disk, as on an operator's server.
  const server = await startPostgres({ isDurable: true })
  const slow = await startPostgres({ isDurable: true, flushMs: FLUSH_MS })
  const stubs = startStubServices()
  const walls: WallProcess[] = []
  try {
    const file = { kind: 'sqlite', path: join(servers.folder, 'engines.sqlite') } as const
    const [one, three] = [await createDatabase(server), await createDatabase(server)]
    const ledgers = [
      await measureLedger('SQLite, ledger only', file),
      await measureLedger('PostgreSQL, ledger only', one),
      await measureLedger(`PostgreSQL, ledger only, flushes of ${FLUSH_MS} ms`, await createDatabase(slow)),
    ]
    await measureLedger('', three)
    const startWalls = async (place: Place, count: number) => {
      const started = await Promise.all(
        Array.from({ length: count }, () => startArmedWall(place, stubs, servers.folder)),
      )
      walls.push(...started)
      return started.map(toServer)
    }
    const [alone, single, several] = [await startWalls(file, 1), await startWalls(one, 1), await startWalls(three, 3)]
    const rows = [
      await measureRates('SQLite, one process', alone, pace),
      await measureRates('PostgreSQL, one instance', single, pace),
      await measureRates('PostgreSQL, three instances', several, pace),
    ]
    const samples = await measureInTurns(
      [createCanvasTarget('SQLite', alone), createCanvasTarget('PostgreSQL', single)],
      pace,
    )
    return {
      rows: [...ledgers, ...rows, ...(await measureLags(several, pace.rounds))],
      ratios: { 'canvas: PostgreSQL over SQLite': compareCosts(samples, 'PostgreSQL', 'SQLite') },
    }
  } finally {
    await Promise.all(walls.map((wall) => wall.kill()))
    await stubs.stop()
    await Promise.all([server.stop(), slow.stop()])
  }
}

const createDatabase = async (server: PostgresServer): Promise<Place> => ({
  kind: 'postgres',
  url: server.getUrl(await server.createDatabase()),
})

/** Sells blocks through a database's store; returns the purchases per second. */
async function measureLedger(what: string, place: Place): Promise<Row> {
  const store = await openStore(place, NETWORK)
  try {
    return { what, figures: { 'purchases/s': await sellAll(store, BLOCKS, countAgents(BLOCKS)) } }
  } finally {
    await store.close()
  }
}

async function startArmedWall(place: Place, stubs: StubServices, folder: string): Promise<WallProcess> {
  const database = place.kind === 'sqlite' ? { DATABASE_PATH: place.path } : { DATABASE_URL: place.url }
  const settings = { ...QUIET, ...stubs.settings, ...database }
  // A killed wall leaves its admin socket in its working directory, so each wall runs in `folder`.
  const wall = await startWall(settings, { folder })
  pinProcess(wall.pid, SERVERS_ON)
  await waitUntilArmed(wall.url)
  return wall
}

const CANVAS = encodeRequest('GET', '/api/canvas', { 'Accept-Encoding': 'gzip' })

const createCanvasTarget = (name: string, [server]: readonly Server[]) => {
  if (server === undefined) throw new Error('no wall was started')
  return { name, server, status: 200, startRound: repeatRequest(CANVAS) }
}

/** Measures purchases, repaints and reads per second, summed over all instances. */
async function measureRates(what: string, servers: readonly Server[], { rounds, ms }: Pace): Promise<Row> {
  const [first] = servers
  if (first === undefined) throw new Error('no wall was started')
  const sign = createRepaintSigner(BLOCKS)
  const [purchases, repaints, reads]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    const payments = await signPayments(first, Math.ceil(PURCHASES_PER_MS * ms))
    const orders = payments.map((payment) => encodeRequest('GET', '/blocks/next', { 'PAYMENT-SIGNATURE': payment }))
    const edits = Array.from({ length: Math.ceil(REPAINTS_PER_MS * ms) }, sign)
    purchases.push(await measureRate(servers, () => orders.pop(), 60_000))
    repaints.push(await measureRate(servers, () => edits.pop(), 60_000))
    reads.push(await measureRate(servers, () => CANVAS, ms))
  }
  return {
    what,
    figures: {
      'purchases/s': computeMedian(purchases),
      'repaints/s': computeMedian(repaints),
      'canvas/s': computeMedian(reads),
    },
  }
}

/**
 * Sends requests to all servers in parallel until no request is left or the time is up; returns correct responses per
 * second.
 */
async function measureRate(
  servers: readonly Server[],
  next: () => Uint8Array | undefined,
  ms: number,
): Promise<number> {
  const connections = Math.ceil(CONNECTIONS / servers.length)
  const startedAt = performance.now()
  const heard = await Promise.all(servers.map(({ port }) => runLoad({ port, getNextRequest: next, connections, ms })))
  const seconds = (performance.now() - startedAt) / 1000
  for (const { requests, statuses } of heard)
    if ((statuses.get(200) ?? 0) < requests)
      throw new Error(`the responses had the statuses ${JSON.stringify([...statuses])}`)
  return heard.reduce((sum, { requests }) => sum + requests, 0) / seconds
}

/** Measures the time from the response of one instance until another instance shows the change. */
async function measureLags(servers: readonly Server[], rounds: number): Promise<Row[]> {
  const [here, there] = servers
  if (here === undefined || there === undefined) throw new Error('two walls are needed')
  const createRow = (what: string, lags: readonly number[]): Row => ({
    what: `${what}: time until another instance shows it`,
    figures: { 'p50 ms': computePercentile(lags, 0.5), 'p99 ms': computePercentile(lags, 0.99) },
  })
  const [names, canvases]: [number[], number[]] = [[], []]
  for (let at = 0; at < rounds * LAGS_A_ROUND; at++) names.push(await measureNameLag(here, there, `agent ${at}`))
  const sign = createRepaintSigner(BLOCKS)
  for (let at = 0; at < rounds * CANVAS_LAGS_A_ROUND; at++) canvases.push(await measureCanvasLag(here, there, sign()))
  return [createRow('A name', names), createRow('A repaint in the canvas read', canvases)]
}

async function measureNameLag(here: Server, there: Server, name: string): Promise<number> {
  const account = privateKeyToAccount(toPrivateKey(1))
  const ts = Date.now()
  const signature = await account.signMessage({
    message: formatRegisterMessage('127.0.0.1', account.address, ts, { name }),
  })
  const body = JSON.stringify({ wallet: account.address, ts, signature, name })
  const changing = encodeRequest('PUT', '/api/agents/me', { 'Content-Type': 'application/json' }, body)
  const fetchNames = async () => await (await fetch(`http://127.0.0.1:${there.port}/api/agents`)).text()
  return await measureLag(here, changing, async () => (await fetchNames()).includes(`"${name}"`))
}

async function measureCanvasLag(here: Server, there: Server, changing: Uint8Array): Promise<number> {
  const fetchTag = async () =>
    (await fetch(`http://127.0.0.1:${there.port}/api/canvas`, { method: 'HEAD' })).headers.get('etag')
  const before = await fetchTag()
  return await measureLag(here, changing, async () => (await fetchTag()) !== before)
}

/** Makes a change; returns the milliseconds from the response until polling shows the change. */
async function measureLag({ port }: Server, changing: Uint8Array, isSeen: () => Promise<boolean>): Promise<number> {
  const status = await sendOnce(port, changing)
  if (status !== 200) throw new Error(`a change was answered with status ${status}`)
  const answeredAt = performance.now()
  while (!(await isSeen()));
  return performance.now() - answeredAt
}
