/** Walls as separate processes, with all their dependencies, each of which can fail. */

import { join } from 'node:path'
import { SQL } from 'bun'
import type { WallProcess, WallSettings } from '../../../server/local/wall-process.ts'
import { createForwarder, makeCertificates, openFront, type Front } from '../../support/chain/front.ts'
import { runCommand } from '../../support/e2e/command.ts'
import { startSurroundings, type Surroundings } from '../../support/e2e/world.ts'
import { IS_LONG_RUN } from '../../support/long-run.ts'
import { type CutProxy, startCutProxy } from '../../support/postgres/cut-proxy.ts'
import { startPostgres } from '../../support/postgres/server.ts'
import { mountDisk, type SmallDisk } from '../../support/scratch-folder.ts'

/** A wall, the faulty proxies in front of its facilitator and its chain endpoint, and its surroundings. */
export type Stage = {
  readonly around: Surroundings
  readonly facilitator: Front
  readonly endpoint: Front
  /** The observed wall. */
  getWall(): WallProcess
  stop(): Promise<void>
}

/** A wall on a file. */
export type FileStage = Stage & {
  readonly databasePath: string
  /** Stops the wall, runs `meanwhile`, and starts the wall again, without waiting until it is armed. */
  restart(meanwhile: () => unknown): Promise<void>
  runOperatorCommand(command: string, ...args: readonly string[]): Promise<unknown>
  /** The disk of the database. */
  readonly disk: SmallDisk
}

/** Two walls on a PostgreSQL server. Each has a second facilitator and a second chain endpoint, which never fail. */
export type ServerStage = Stage & {
  readonly other: WallProcess
  /** The proxies in front of the database server: that of the observed wall, then that of the other wall. */
  readonly proxies: readonly [CutProxy, CutProxy]
  /** Changes a setting of the database server. */
  changeSetting(setting: string, value: string): Promise<void>
}

/** Whether the database server is our own; the tests change nothing on any other server. */
export const isServerOurs = (Bun.env['TEST_DATABASE_URL'] ?? '') === ''

// In long runs, the defaults of a wall in production.
const OWN_TIMES: WallSettings = IS_LONG_RUN
  ? { RECONCILE_INTERVAL_MS: '5000', VERIFY_TIMEOUT_MS: '5000', SETTLE_TIMEOUT_MS: '30000' }
  : {}

const DISK_MB = 96

async function openFronts() {
  const around = await startSurroundings({ BASE_URL: 'http://127.0.0.1', ...OWN_TIMES })
  const certificate = await makeCertificates(around.folder)
  const facilitator = await openFront(around.network.callFacilitator, around.folder)
  const endpoint = await openFront(createForwarder(around.network.rpcUrl), around.folder)
  return { around, facilitator, endpoint, trusting: { NODE_EXTRA_CA_CERTS: certificate } }
}

/** Opens a wall on a file. */
export async function openFileStage(): Promise<FileStage> {
  const { around, facilitator, endpoint, trusting } = await openFronts()
  const disk = await mountDisk(join(around.folder, 'disk'), DISK_MB)
  const databasePath = join(disk.folder, 'wall.sqlite')
  const fronts = { FACILITATOR_URL: facilitator.url, RPC_URL: endpoint.url }
  const settings = { ...(await around.createFileSettings()), ...fronts, ...trusting, DATABASE_PATH: databasePath }
  let wall = await around.startArmedWall(settings)
  return {
    around,
    facilitator,
    endpoint,
    databasePath,
    getWall: () => wall,
    async restart(meanwhile) {
      await wall.stop()
      await meanwhile()
      wall = await around.start(settings)
    },
    runOperatorCommand: (command, ...args) => runCommand(settings, around.folder, command, ...args),
    disk,
    async stop() {
      await wall.stop()
      await Promise.all([facilitator.stop(), endpoint.stop()])
      disk.unmount()
      await around.stop()
    },
  }
}

/** Starts two walls on a database server. */
export async function openServerStage(): Promise<ServerStage> {
  const [{ around, facilitator, endpoint, trusting }, server] = await Promise.all([openFronts(), startPostgres()])
  const url = server.getUrl(await server.createDatabase())
  const proxies = [startCutProxy(url), startCutProxy(url)] as const
  const settings = {
    FACILITATOR_URL: `${facilitator.url},${around.facilitator.url}`,
    RPC_URL: `${endpoint.url},${around.network.rpcUrl}`,
    ...trusting,
  }
  const startWallBehind = (proxy: CutProxy) => around.startArmedWall({ ...settings, DATABASE_URL: proxy.url })
  const [wall, other] = await Promise.all([startWallBehind(proxies[0]), startWallBehind(proxies[1])])
  return {
    around,
    facilitator,
    endpoint,
    other,
    proxies,
    getWall: () => wall,
    async changeSetting(setting, value) {
      const admin = new SQL(url, { max: 1 })
      await admin.unsafe(`ALTER SYSTEM SET ${setting} = '${value}'`)
      await admin.unsafe('SELECT pg_reload_conf()')
      await admin.close()
    },
    async stop() {
      await Promise.all([wall.stop(), other.stop()])
      for (const proxy of proxies) proxy.stop()
      await Promise.all([facilitator.stop(), endpoint.stop(), server.stop()])
      await around.stop()
    },
  }
}
