/** The measured processes: real walls of each size, and the servers they are compared with. */

import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWall, type WallProcess, type WallSettings } from '../../server/local/wall-process.ts'
import { pinProcess } from '../measure/cpu.ts'
import { seedWall } from './seed.ts'

/** A process that listens on loopback. */
export type Server = { readonly port: number; readonly pid: number }

/** The CPU that the servers run on; their clients run on CPU 0. */
export const SERVERS_ON = 1

// The number of agents; small walls have fewer.
const AGENTS = 500

const WORKS_WALL = 'wall-of-works'
const WORKS_BLOCKS = 8000
const WORKS_AGENTS = 306

/** How many agents own the blocks of a wall, by default. */
export const countAgents = (blocks: number): number => Math.min(AGENTS, Math.max(1, blocks))

/** A server that does only the minimum. */
export type Floor = Server & {
  /** Stores a response of another server; resolves to the path that sends the same bytes. */
  storeResponse(server: Server, path: string, headers?: Readonly<Record<string, string>>): Promise<string>
}

export type Servers = {
  readonly folder: string
  /** A wall with this many blocks sold, started once for each `name`. Settings apply only to the first start. */
  getWall(blocks: number, name?: string, settings?: WallSettings, agents?: number): Promise<Server>
  /** A wall like one that is some months old: 8,000 blocks in about 500 works of about 300 agents. */
  getWorksWall(): Promise<Server>
  /** Copies the database of a wall with this many blocks sold; returns the path of the copy. */
  copyDatabase(blocks: number, name: string): string
  /** A naive server, for comparison, on a wall with this many blocks sold. */
  getNaiveServer(blocks: number): Promise<Server>
  /** A server with the minimum cost per response, which stores responses of walls to send them again. */
  getFloorServer(): Promise<Floor>
  stop(): Promise<void>
}

// No facilitator and no chain: the measured requests to such a wall use neither.
const NOWHERE = 'http://127.0.0.1:9'

/** The settings, other than the database, of a wall that nobody buys from. */
export const QUIET: WallSettings = {
  PAY_TO: `0x${'11'.repeat(20)}`,
  FACILITATOR_URL: NOWHERE,
  RPC_URL: NOWHERE,
  BASE_URL: 'http://127.0.0.1',
}

/** The name of a wall without settings of its own. */
export const nameWall = (blocks: number, agents: number): string => `wall-${blocks}-${agents}`

type EndableServer = Server & { end(): void }

/** Manages the measured processes; at first, none is running. */
export function createServers(): Servers {
  const folder = mkdtempSync(join(tmpdir(), 'pixel-wall-bench-'))
  const walls = new Map<string, Promise<WallProcess>>()
  const naives = new Map<number, Promise<EndableServer>>()
  const masters = new Set<string>()
  let floor: Promise<EndableServer & Floor> | undefined

  const seedDatabase = (blocks: number, name: string, agents = countAgents(blocks), inWorks = false) => {
    const master = join(folder, `master-${blocks}-${agents}${inWorks ? '-works' : ''}.sqlite`)
    if (!masters.has(master)) seedWall(master, { blocks, agents, inWorks })
    masters.add(master)
    const copy = join(folder, `${name}.sqlite`)
    cpSync(master, copy)
    return copy
  }
  const startMeasuredWall = async (path: string, settings: WallSettings) => {
    const wall = await startWall({ ...QUIET, ...settings, DATABASE_PATH: path })
    pinProcess(wall.pid, SERVERS_ON)
    await waitUntilPublished(wall.url)
    return wall
  }
  const getOrStartWall = async (name: string, path: () => string, settings: WallSettings = {}) => {
    const started = walls.get(name) ?? startMeasuredWall(path(), settings)
    walls.set(name, started)
    return toServer(await started)
  }
  const getWall: Servers['getWall'] = (blocks, name = nameWall(blocks, countAgents(blocks)), settings, agents) =>
    getOrStartWall(name, () => seedDatabase(blocks, name, agents), settings)
  const startFloorServer = async () => {
    const server = await startScript('floor-server.ts')
    const storeResponse: Floor['storeResponse'] = async ({ port }, path, headers = {}) => {
      const body = JSON.stringify({ url: `http://127.0.0.1:${port}${path}`, headers })
      return await (await fetch(`http://127.0.0.1:${server.port}/same`, { method: 'POST', body })).text()
    }
    return { ...server, storeResponse }
  }
  return {
    folder,
    getWall,
    getWorksWall: () => getOrStartWall(WORKS_WALL, () => seedDatabase(WORKS_BLOCKS, WORKS_WALL, WORKS_AGENTS, true)),
    copyDatabase: seedDatabase,
    async getNaiveServer(blocks) {
      const started = naives.get(blocks) ?? startScript('naive-server.ts', seedDatabase(blocks, `naive-${blocks}`))
      naives.set(blocks, started)
      return await started
    },
    getFloorServer: () => (floor ??= startFloorServer()),
    async stop() {
      await floor?.then((started) => started.end()).catch(() => {})
      // A server that did not start has already exited.
      for (const started of walls.values()) await started.then((one) => one.kill()).catch(() => {})
      for (const started of naives.values()) await started.then((one) => one.end()).catch(() => {})
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A wall as a measured target. */
export const toServer = ({ url, pid }: WallProcess): Server => ({ port: Number(new URL(url).port), pid })

/** Starts one of the server scripts in this folder, each of which prints its port. */
async function startScript(script: string, ...args: readonly string[]): Promise<EndableServer> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, script), ...args], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const line = await readFirstLine(child.stdout)
  pinProcess(child.pid, SERVERS_ON)
  return { port: Number(line), pid: child.pid, end: () => child.kill('SIGKILL') }
}

async function readFirstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const { value } = await stream.getReader().read()
  return new TextDecoder().decode(value).trim()
}

/** The gzipped response to the canvas read, as it is sent. */
export async function readCanvasGzip(port: number): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(`http://127.0.0.1:${port}/api/canvas`, {
    headers: { 'Accept-Encoding': 'gzip' },
    decompress: false,
  })
  if (response.headers.get('content-encoding') !== 'gzip') throw new Error('the canvas read is not compressed yet')
  return new Uint8Array(await response.arrayBuffer())
}

/** Resolves once a wall has compressed its canvas read. */
async function waitUntilPublished(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/api/canvas`, { headers: { 'Accept-Encoding': 'gzip' }, method: 'HEAD' })
    if (response.headers.get('content-encoding') === 'gzip') return
    await Bun.sleep(20)
  }
}
