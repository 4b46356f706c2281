/** Walls as separate processes, on a real chain, with a facilitator that can be made to misbehave. */

import { afterAll, beforeAll } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLocalNetwork, type LocalNetwork, type LocalNetworkOptions } from '../../../server/local/network.ts'
import {
  waitUntilArmed,
  findFreePort,
  startWall,
  type WallProcess,
  type WallSettings,
} from '../../../server/local/wall-process.ts'
import { createWallet, type Wallet } from '../../../server/local/wallets.ts'
import { startFaultyFacilitator, type FaultyFacilitator } from '../chain/faulty-facilitator.ts'
import { IS_LONG_RUN } from '../long-run.ts'
import { scaleLimit } from '../machine.ts'
import type { At } from './buyer.ts'
import { expectBooksToBalance } from './read-wall.ts'

/** The surroundings of walls: a real chain, and a facilitator that can be made to misbehave. */
export type Surroundings = {
  readonly folder: string
  readonly databasePath: string // the path of SQLite's file
  readonly network: LocalNetwork
  readonly facilitator: FaultyFacilitator
  readonly payTo: `0x${string}`
  /** The settings of every wall in these surroundings, except its database. */
  readonly settings: WallSettings
  /** The settings of a wall on SQLite with a port of its own, so that it can be started again as the same wall. */
  createFileSettings(): Promise<WallSettings>
  /** Starts a wall; `settings` apply only to that wall. */
  start(settings: WallSettings, limits?: string): Promise<WallProcess>
  /** Starts a wall, and waits until it accepts payments. */
  startArmedWall(settings: WallSettings, limits?: string): Promise<WallProcess>
  createFundedWallet(dollars?: number): Promise<Wallet>
  /** The balance of a wallet. */
  readBalance(wallet: Pick<Wallet, 'address'>): Promise<number>
  stop(): Promise<void>
}

/** A wall that runs in its own process, with its surroundings. */
export type World = At &
  Omit<Surroundings, 'settings' | 'folder'> & {
    /** The settings and the folder of the process, which the operator's commands use too. */
    readonly settings: WallSettings
    readonly folder: string
    getWall(): WallProcess
    /** Kills the process, as a power cut would, and starts it again on the same database. */
    crash(): Promise<void>
    restart(): Promise<void>
  }

/** The command that runs a wall with shorter intervals and time limits, or with the defaults in a long run. */
export const QUICK_WALL: readonly string[] = [
  process.execPath,
  join(import.meta.dir, IS_LONG_RUN ? '../../../server/main.ts' : 'quick-wall.ts'),
]

const QUICK = {
  RECONCILE_INTERVAL_MS: '200',
  VERIFY_TIMEOUT_MS: String(scaleLimit(2000)),
  SETTLE_TIMEOUT_MS: String(scaleLimit(1000)),
}

/** Starts a chain and a facilitator; `settings` apply to every wall. */
export async function startSurroundings(
  settings: WallSettings = {},
  options: LocalNetworkOptions = {},
): Promise<Surroundings> {
  const folder = await mkdtemp(join(tmpdir(), 'pixel-wall-e2e-'))
  const network = await startLocalNetwork(options)
  const facilitator = await startFaultyFacilitator(network.callFacilitator)
  const payTo = createWallet().address
  const databasePath = join(folder, 'wall.sqlite')
  const common = {
    ...QUICK,
    PAY_TO: payTo,
    FACILITATOR_URL: facilitator.url,
    RPC_URL: network.rpcUrl,
    ...settings,
  }
  const start = (own: WallSettings, limits?: string) =>
    startWall({ ...common, ...own }, { folder, limits, program: QUICK_WALL })
  return {
    folder,
    databasePath,
    network,
    facilitator,
    payTo,
    settings: common,
    createFileSettings: async () => ({ ...common, ...(await createAddress()), DATABASE_PATH: databasePath }),
    start,
    async startArmedWall(own, limits) {
      const wall = await start(own, limits)
      await waitUntilArmed(wall.url)
      return wall
    },
    createFundedWallet: (dollars = 2) => network.createFundedWallet(dollars),
    readBalance: async ({ address }) => Number(await network.readBalance(address)) / 1_000_000,
    async stop() {
      await facilitator.stop()
      await network.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Starts a wall and its surroundings; `settings` are for the wall, `options` for the chain and the facilitator. */
export async function startWorld(settings: WallSettings = {}, options: LocalNetworkOptions = {}): Promise<World> {
  const around = await startSurroundings(settings, options)
  const all = await around.createFileSettings()
  const startOwnWall = () => around.startArmedWall(all)
  let wall = await startOwnWall()
  return {
    ...around,
    settings: all,
    url: wall.url,
    getWall: () => wall,
    async crash() {
      await wall.kill()
      wall = await startOwnWall()
    },
    async restart() {
      await wall.stop()
      wall = await startOwnWall()
    },
    async stop() {
      await wall.stop()
      await around.stop()
    },
  }
}

/**
 * Opens a world before the following tests, passes it to `take`, and closes it after them. At the end, its books must
 * balance.
 */
export function shareWorld(
  take: (world: World) => void,
  settings: WallSettings = {},
  options: LocalNetworkOptions = {},
): void {
  let world: World | undefined
  beforeAll(async () => {
    world = await startWorld(settings, options)
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

async function createAddress(): Promise<WallSettings> {
  const port = String(await findFreePort())
  return { BASE_URL: `http://127.0.0.1:${port}`, PORT: port }
}
