/** Several instances of a wall on one PostgreSQL server, as an operator runs them behind a load balancer. */

import {
  waitUntilArmed,
  findFreePort,
  startWall,
  type WallProcess,
  type WallSettings,
} from '../../../server/local/wall-process.ts'
import { type PostgresServer, startPostgres } from '../postgres/server.ts'
import type { At } from './buyer.ts'
import { QUICK_WALL, startSurroundings, type Surroundings } from './world.ts'

/** One instance of the wall; it keeps its address when it is started again. */
export type Instance = At & {
  /** Starts the instance, unless it is already running, and waits until it accepts payments. */
  start(): Promise<void>
  /** Stops the instance with SIGTERM, and waits until it has ended. */
  stop(): Promise<void>
  /** Kills the instance, as a power cut would. */
  kill(): Promise<void>
}

/** Instances that share a database, and their surroundings. */
export type Cluster = Surroundings & {
  readonly server: PostgresServer
  readonly instances: readonly Instance[]
  /** The address of one instance; consecutive numbers choose the instances in turn. */
  getInstance(number: number): At
}

/** Starts this many instances; `settings` apply to each. */
export async function startCluster(count: number, settings: WallSettings = {}): Promise<Cluster> {
  // Clients use the load balancer's host name, so owners sign for that name.
  const [around, server] = await Promise.all([
    startSurroundings({ BASE_URL: 'http://127.0.0.1', ...settings }),
    startPostgres(),
  ])
  const database = server.getUrl(await server.createDatabase())
  const instances = await Promise.all(
    Array.from({ length: count }, () => startInstance({ ...around.settings, DATABASE_URL: database }, around.folder)),
  )
  await Promise.all(instances.map((instance) => instance.start()))
  return {
    ...around,
    server,
    instances,
    getInstance(number) {
      const instance = instances[number % count]
      if (instance === undefined) throw new Error('the cluster has no instances')
      return instance
    },
    async stop() {
      await Promise.all(instances.map((instance) => instance.stop()))
      await server.stop()
      await around.stop()
    },
  }
}

async function startInstance(settings: WallSettings, folder: string): Promise<Instance> {
  const port = String(await findFreePort())
  const url = `http://127.0.0.1:${port}`
  let wall: WallProcess | undefined
  const createEnding = (how: 'stop' | 'kill') => async () => {
    const ending = wall
    wall = undefined
    await ending?.[how]()
  }
  return {
    url,
    async start() {
      wall ??= await startWall({ ...settings, PORT: port }, { folder, program: QUICK_WALL })
      await waitUntilArmed(url)
    },
    stop: createEnding('stop'),
    kill: createEnding('kill'),
  }
}
