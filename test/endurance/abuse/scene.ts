/** A wall in its own process with a real chain, everything that leaves it counted, and honest buyers beside the floods. */

import { join } from 'node:path'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { seed } from '../../../bench/servers/seed.ts'
import { openSqlite } from '../../../db/sqlite/open.ts'
import { armed, startWall, type WallProcess } from '../../../server/local/wall-process.ts'
import { newWallet } from '../../../server/local/wallets.ts'
import type { HistoryPage } from '../../../shared/contract/live.ts'
import type { Health } from '../../../shared/contract/service.ts'
import { parseCoord } from '../../../shared/wall.ts'
import { orderArea, signArea } from '../../support/e2e/area-orders.ts'
import { get, settled, sign } from '../../support/e2e/buyer.ts'
import { startSurroundings } from '../../support/e2e/world.ts'
import { flatPng } from '../../support/picture-files.ts'
import type { FloodCounts, FloodOrder } from './flooder.ts'
import { type Flood, type FloodName, FLOODS, type Target } from './floods.ts'

/**
 * How a flood is made: how long, from how many addresses, over how many connections at most, and how many buy a block
 * meanwhile, and as many an area with a picture.
 */
export type Plan = {
  readonly ms: number
  readonly addresses: number
  readonly connectionsMax: number
  readonly buyers: number
}

/** What a flood did, and to whom. Times in milliseconds. */
export type Effect = FloodCounts & {
  readonly healthP50: number
  readonly healthP99: number
  readonly bought: number // of the honest buyers of a block
  readonly painted: number // of those of an area with a picture, by their first request
  readonly buyP50: number // from a paid request to its receipt
  readonly verified: number // questions to the facilitator
  readonly rpcCalls: number
  readonly logGrew: number // by how many entries
  readonly rails: readonly string[] // every state that the rail was seen in
}

/** A wall to flood. */
export type Scene = {
  flood(name: FloodName, plan: Plan): Promise<Effect>
  /** How health is answered while nobody else asks. */
  idle(ms: number): Promise<Pick<Effect, 'healthP50' | 'healthP99'>>
  readonly pid: () => number
  stop(): Promise<void>
}

const BLOCK = '3,3'

// A wall that is nearly full: what is left lies in the corners, and is enough for every buyer.
const SOLD = 13_000
const AGENTS = 500

// Of an honest buyer: a picture as most are.
const ORDER = { w: 2, h: 1, image: flatPng(512, 256, '#d75f00').toBase64() }
const FLOODER = join(import.meta.dir, 'flooder.ts')

/** Opens a wall that is nearly full, and has `changes` repaints of one block in its log. */
export async function openScene(changes: number): Promise<Scene> {
  const around = await startSurroundings()
  const rpc = countingProxy(around.network.rpcUrl)
  const databasePath = join(around.folder, 'wall.sqlite')
  const open = async (): Promise<WallProcess> => {
    const started = await startWall({ ...around.settings, RPC_URL: rpc.url, DATABASE_PATH: databasePath })
    await armed(started.url)
    return started
  }
  seed(databasePath, SOLD, AGENTS)
  let wall = await open()
  const owner = newWallet()
  await around.network.fund(owner.address, 2)
  const bought = await get(wall, BLOCK, await sign(wall, owner, BLOCK))
  if (bought.status !== 200) throw new Error(`the scene could not buy its block: ${bought.status}`)
  await wall.stop()
  await lengthenLog(databasePath, changes)
  wall = await open()
  const target: Target = {
    host: new URL(wall.url).host,
    terms:
      decodePaymentRequiredHeader((await get(wall, 'next')).headers.get('payment-required') ?? '').accepts[0] ?? {},
    block: BLOCK,
    key: owner.privateKey,
    wallet: owner.address,
  }
  return {
    pid: () => wall.pid,
    idle: async (ms) => (await watched(wall.url, Bun.sleep(ms))).times,
    async flood(name, plan) {
      const wallets = await Promise.all(Array.from({ length: plan.buyers }, () => around.wallet(4)))
      const before = { verified: around.facilitator.verify.count(), rpc: rpc.count(), log: await lastNumber(wall.url) }
      const flooding = floodFrom(name, plan, target)
      const took: number[] = []
      const timed = async (answer: () => Promise<Response>) => {
        const startedAt = performance.now()
        const { status } = await answer()
        took.push(performance.now() - startedAt)
        return status === 200
      }
      const buying = wallets.map(async (wallet, at) => {
        await Bun.sleep((plan.ms * (at + 0.5)) / wallets.length)
        const payment = await sign(wall, wallet)
        const isBought = await timed(() => settled(wall, 'next', payment))
        const areaPayment = await signArea(wall, wallet, ORDER)
        return { isBought, isPainted: await timed(() => orderArea(wall, ORDER, areaPayment)) }
      })
      const { times, rails } = await watched(wall.url, flooding)
      const ends = await Promise.all(buying)
      return {
        ...(await flooding),
        ...times,
        rails,
        bought: ends.filter(({ isBought }) => isBought).length,
        painted: ends.filter(({ isPainted }) => isPainted).length,
        buyP50: median(took),
        verified: around.facilitator.verify.count() - before.verified,
        rpcCalls: rpc.count() - before.rpc,
        logGrew: (await lastNumber(wall.url)) - before.log,
      }
    },
    async stop() {
      await wall.stop()
      await rpc.stop()
      await around.stop()
    },
  }
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** Floods from another process, which keeps its own work out of what is measured here. */
async function floodFrom(
  name: FloodName,
  { ms, addresses, connectionsMax }: Plan,
  target: Target,
): Promise<FloodCounts> {
  const flood: Flood = FLOODS[name]
  const connections = Math.min(flood.connections, connectionsMax)
  const order: FloodOrder = { flood: name, connections, addresses, ms, target }
  const child = Bun.spawn([process.execPath, FLOODER, JSON.stringify(order)], { stdout: 'pipe', stderr: 'inherit' })
  return JSON.parse(await new Response(child.stdout).text()) as FloodCounts
}

const SAMPLE_EVERY_MS = 10

/** Asks for health again and again until something is over. */
async function watched(url: string, until: Promise<unknown>) {
  const [took, rails]: [number[], Set<string>] = [[], new Set()]
  let isOver = false
  void until.finally(() => (isOver = true)).catch(() => {})
  while (!isOver) {
    const startedAt = performance.now()
    const health = (await (await fetch(`${url}/api/health`)).json()) as Health
    took.push(performance.now() - startedAt)
    rails.add(health.rail)
    await Bun.sleep(SAMPLE_EVERY_MS)
  }
  took.sort((one, other) => one - other)
  const at = (share: number) => took[Math.floor(took.length * share)] ?? Number.NaN
  return { times: { healthP50: at(0.5), healthP99: at(0.99) }, rails: [...rails] }
}

const HISTORY_FAR = 1_000_000

/** The number of the newest change, found by halving: the log may be long. */
async function lastNumber(url: string): Promise<number> {
  const isPast = async (after: number) => {
    const page = (await (await fetch(`${url}/api/history?after=${after}&limit=1`)).json()) as HistoryPage
    return page.changes.length === 0
  }
  let [low, high] = [0, HISTORY_FAR]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (await isPast(middle)) high = middle
    else low = middle + 1
  }
  return low
}

const EDITS_AT_ONCE = 500

/** Writes repaints into a wall that is closed, as its owner could have made them over the years. */
async function lengthenLog(path: string, changes: number): Promise<void> {
  const block = parseCoord(BLOCK)
  const engine = await openSqlite(path, 'eip155:8453')
  for (let at = 0; block !== undefined && at < changes; at += EDITS_AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(EDITS_AT_ONCE, changes - at) }, (_, i) =>
        engine.blocks.edit(
          block,
          {
            digest: `0x${Bun.SHA256.hash(`${at + i}`, 'hex')}`,
            ts: 0,
            pixels: undefined,
            message: `${at + i}`,
            link: undefined,
            painter: null,
          },
          Date.now(),
        ),
      ),
    )
  engine.close()
}

/** Passes questions on to the chain, and counts them; a batch counts as many as it holds. */
function countingProxy(realUrl: string) {
  let count = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = await request.text()
      const asked: unknown = JSON.parse(body)
      count += Array.isArray(asked) ? asked.length : 1
      return await fetch(realUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, count: () => count, stop: () => server.stop(true) }
}
