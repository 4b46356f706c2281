import { afterAll, beforeAll, expect } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { x402Client } from '@x402/core/client'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { startLocalNetwork, type LocalNetwork, type LocalNetworkOptions } from '../../server/local/network.ts'
import { armed, freePort, startWall, type WallProcess } from '../../server/local/wall-process.ts'
import { newWallet, type Wallet } from '../../server/local/wallets.ts'
import type { Canvas } from '../../shared/contract/canvas.ts'
import type { Sale } from '../../shared/contract/feed.ts'
import { startPostgres } from '../db/postgres/server.ts'
import { bodyOf, clientOf } from '../http/client.ts'
import { startFaultyFacilitator, type FaultyFacilitator } from '../local/faulty-facilitator.ts'

/** What a wall's database can be on, for tests that are about the wall and not about its file. */
export const ENGINES = ['SQLite', 'PostgreSQL'] as const
export type EngineName = (typeof ENGINES)[number]

/** Where a wall answers. */
export type At = { readonly url: string }

/** What is around walls: a real chain, and a facilitator that can be told to misbehave. */
export type Surroundings = {
  readonly folder: string
  readonly network: LocalNetwork
  readonly facilitator: FaultyFacilitator
  readonly payTo: `0x${string}`
  /** Of every wall in these surroundings, but for its database. */
  readonly settings: Readonly<Record<string, string>>
  wallet(dollars?: number): Promise<Wallet>
  stop(): Promise<void>
}

/** A wall as its own process. */
export type World = At &
  Omit<Surroundings, 'settings' | 'folder'> & {
    /** What the process was started with, and where; the operator's commands are run with the same. */
    readonly settings: Readonly<Record<string, string>>
    readonly folder: string
    readonly databasePath: string // where SQLite has its file
    wall(): WallProcess
    /** Ends the process as a power cut would, and starts it again on the same database. */
    crash(): Promise<void>
    restart(): Promise<void>
  }

const QUICK = { RECONCILE_INTERVAL_MS: '200', VERIFY_TIMEOUT_MS: '2000', SETTLE_TIMEOUT_MS: '1000' }

/** Starts a chain and a facilitator; `settings` are for every wall. */
export async function startSurroundings(
  settings: Readonly<Record<string, string>> = {},
  options: LocalNetworkOptions = {},
): Promise<Surroundings> {
  const folder = await mkdtemp(join(tmpdir(), 'pixel-wall-e2e-'))
  const network = await startLocalNetwork(options)
  const facilitator = await startFaultyFacilitator(network.askFacilitator)
  const payTo = newWallet().address
  return {
    folder,
    network,
    facilitator,
    payTo,
    settings: { ...QUICK, PAY_TO: payTo, FACILITATOR_URL: facilitator.url, RPC_URL: network.rpcUrl, ...settings },
    wallet: (dollars = 2) => network.wallet(dollars),
    async stop() {
      await facilitator.stop()
      await network.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Starts a wall and all around it; `settings` go to the wall, `options` to the chain and the facilitator. */
export async function startWorld(
  settings: Readonly<Record<string, string>> = {},
  engine: EngineName = 'SQLite',
  options: LocalNetworkOptions = {},
): Promise<World> {
  const [around, place] = await Promise.all([startSurroundings(settings, options), newPlace(engine)])
  const { folder } = around
  const port = String(await freePort())
  const all = { ...around.settings, BASE_URL: `http://127.0.0.1:${port}`, PORT: port, ...place.settings(folder) }
  const open = async () => {
    const opened = await startWall(all, { folder })
    await armed(opened.url)
    return opened
  }
  let wall = await open()
  return {
    ...around,
    settings: all,
    url: wall.url,
    databasePath: databaseIn(folder),
    wall: () => wall,
    async crash() {
      await wall.kill()
      wall = await open()
    },
    async restart() {
      await wall.stop()
      wall = await open()
    },
    async stop() {
      await wall.stop()
      await place.stop()
      await around.stop()
    },
  }
}

/** Opens a world before the tests that follow, gives it to `take`, and closes it after them; its books must balance then. */
export function shareWorld(
  take: (world: World) => void,
  engine: EngineName = 'SQLite',
  settings: Readonly<Record<string, string>> = {},
  options: LocalNetworkOptions = {},
): void {
  let world: World | undefined
  beforeAll(async () => {
    world = await startWorld(settings, engine, options)
    take(world)
  })
  afterAll(async () => {
    if (world === undefined) return
    try {
      await expectBooksToBalance(world)
    } finally {
      await world.stop()
    }
  })
}

type Place = { settings(folder: string): Readonly<Record<string, string>>; stop(): Promise<void> }

const databaseIn = (folder: string) => join(folder, 'wall.sqlite')

/** An empty database: a file in the world's folder, or a server of its own. */
async function newPlace(engine: EngineName): Promise<Place> {
  if (engine === 'SQLite')
    return { settings: (folder) => ({ DATABASE_PATH: databaseIn(folder) }), stop: async () => {} }
  const server = await startPostgres()
  const url = server.url(await server.newDatabase())
  return { settings: () => ({ DATABASE_URL: url }), stop: server.stop }
}

/** Asks again and again until there is an answer; the test's own time limit ends it. */
export async function eventually<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await Bun.sleep(20)
  }
}

/** Reads a block, or buys it with a signed payment. */
export function get({ url }: At, target: string, payment?: string): Promise<Response> {
  const headers = payment === undefined ? {} : { 'payment-signature': payment }
  return fetch(`${url}/blocks/${target}`, { headers: { accept: 'application/json', ...headers } })
}

/** Who signs payments: a key, or a contract wallet with one. */
export type Payer = ConstructorParameters<typeof ExactEvmScheme>[0]

/** Signs the wall's own terms as the stock client does; the value can be sent more than once. */
export async function sign(wall: At, wallet: Payer, target = 'next'): Promise<string> {
  const demand = await get(wall, target)
  expect(demand.status).toBe(402)
  return await signDemand(demand.headers.get('payment-required') ?? '', wallet)
}

/** The stock client with a spend cap that the largest area fits under; its own is a dollar. */
export const payingClient = (wallet: Payer): x402Client =>
  x402Client.fromConfig({
    schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(wallet) }],
    spendControls: { maxAmountPerPayment: '$400' },
  })

/** Signs terms that were seen before. */
export async function signDemand(header: string, wallet: Payer): Promise<string> {
  return encodePaymentSignatureHeader(
    await payingClient(wallet).createPaymentPayload(decodePaymentRequiredHeader(header)),
  )
}

/** Sends the same signed request until it is not told to wait any longer. */
export function settled(wall: At, target: string, payment: string): Promise<Response> {
  return eventually(async () => {
    const response = await get(wall, target, payment)
    return response.status === 503 ? undefined : response
  })
}

/** The canvas read, once it shows every sale made before the call. */
export async function readCanvas(wall: At): Promise<Canvas> {
  const sales = await readFeed(wall)
  return await canvasWhen(wall, ({ stats }) => stats.lastSaleId >= sales.length)
}

/** The canvas read, once it is as told; it follows the log within a second. */
export function canvasWhen(wall: At, isTrue: (canvas: Canvas) => boolean): Promise<Canvas> {
  return eventually(async () => {
    const canvas = await bodyOf(clientOf(wall).api.canvas.get())
    return isTrue(canvas) ? canvas : undefined
  })
}

/** The whole feed, page by page. */
export async function readFeed(wall: At): Promise<Sale[]> {
  const sales: Sale[] = []
  for (let after = 0; ;) {
    const page = await bodyOf(clientOf(wall).api.feed.get({ query: { after, limit: 20 } }))
    sales.push(...page.sales)
    after = page.nextAfter
    if (!page.hasMore) return sales
  }
}

/** The operator's sum: as many dollars came in as blocks went out, and every reader sees the same blocks. */
export async function expectBooksToBalance(world: At & Pick<Surroundings, 'network' | 'payTo'>): Promise<void> {
  const { blocks, stats, agents } = await readCanvas(world)
  const sales = await readFeed(world)
  expect(await world.network.balanceOf(world.payTo)).toBe(BigInt(stats.claimed) * 1_000_000n)
  expect(new Set(blocks.map(({ i }) => i))).toEqual(new Set(sales.map(({ i }) => i)))
  expect(blocks).toHaveLength(sales.length)
  expect(sales.map(({ seq }) => seq)).toEqual(sales.map((_, i) => i + 1))
  expect(stats).toMatchObject({ claimed: blocks.length, remaining: 14_400 - blocks.length, lastSaleId: sales.length })
  expect(agents.reduce((sum, agent) => sum + agent.blocks, 0)).toBe(blocks.length)
}
