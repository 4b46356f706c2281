/** The start time of a full wall, and the memory of walls of each size. */

import { dirname, join } from 'node:path'
import { findFreePort, startWall } from '../../server/local/wall-process.ts'
import { TOTAL_BLOCKS } from '../../shared/wall.ts'
import type { Row, Scenario } from '../findings.ts'
import { runOnEveryProcessor, readResidentMb } from '../measure/cpu.ts'
import { runLoad, encodeRequest } from '../measure/load.ts'
import { computeMedian } from '../measure/pair.ts'
import { QUIET, type Server } from '../servers/servers.ts'
import { createRepaintSigner } from './owners.ts'
import { sendPaced } from './repaints.ts'

/** The time from the start of the process to the last byte of the first read of the whole wall, on all CPUs. */
export const measureColdStart: Scenario = async (servers, { rounds }) => {
  const DATABASE_PATH = servers.copyDatabase(TOTAL_BLOCKS, 'cold')
  const executable = [makeExecutable(join(servers.folder, 'release')), 'serve']
  const [took, compiled]: [number[], number[]] = [[], []]
  // A process inherits the CPUs of its parent.
  await runOnEveryProcessor(async () => {
    for (let round = 0; round < rounds; round++) {
      took.push(await measureFirstRead(DATABASE_PATH))
      compiled.push(await measureFirstRead(DATABASE_PATH, executable))
    }
  })
  const [s, fast] = [computeMedian(took), computeMedian(compiled)]
  return {
    rows: [
      { what: `${TOTAL_BLOCKS} blocks`, figures: { s } },
      { what: 'the same, with the executable', figures: { s: fast } },
    ],
    ratios: {
      'start: seconds to the first full read': s,
      'start: seconds to the first full read, executable': fast,
    },
  }
}

/** Makes a release in a folder; returns the path of its executable. */
function makeExecutable(folder: string): string {
  const path = `${dirname(process.execPath)}:${Bun.env['PATH'] ?? ''}`
  const script = join(import.meta.dir, '../../deploy/release.ts')
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, script, folder], { env: { ...Bun.env, PATH: path } })
  if (exitCode !== 0) throw new Error(`the release could not be built: ${stderr.toString()}`)
  return join(folder, `pixel-wall-${process.platform}-${process.arch}`)
}

async function measureFirstRead(DATABASE_PATH: string, program?: readonly string[]): Promise<number> {
  const PORT = String(await findFreePort())
  const startedAt = performance.now()
  const wall = await startWall({ ...QUIET, DATABASE_PATH, PORT }, { program })
  await (await fetch(`http://127.0.0.1:${PORT}/api/canvas`, { headers: { 'Accept-Encoding': 'identity' } })).bytes()
  const seconds = (performance.now() - startedAt) / 1000
  await wall.kill()
  return seconds
}

// Early memory use says little about later use.
const SETTLED_AFTER = 5
const READ_ONLY = 10

const REPAINTS_A_SECOND = 200

/**
 * The memory of walls of three sizes, and whether a wall's memory grows while the wall is read and repainted all the
 * time.
 */
export const measureMemory: Scenario = async (servers, { steadyMs }) => {
  const rows: Row[] = []
  for (const blocks of [100, 1000, TOTAL_BLOCKS]) {
    const { pid } = await servers.getWall(blocks)
    rows.push({ what: `${blocks} blocks`, figures: { MB: readResidentMb(pid) } })
  }
  const wall = await servers.getWall(TOTAL_BLOCKS)
  const sign = createRepaintSigner(TOTAL_BLOCKS)
  const held: number[] = []
  for (let look = 0; look < READ_ONLY; look++) {
    await readAndRepaint(wall, sign, steadyMs / READ_ONLY)
    held.push(readResidentMb(wall.pid))
  }
  const [first = Number.NaN, last = Number.NaN] = [held[SETTLED_AFTER], held.at(-1)]
  rows.push({ what: `${TOTAL_BLOCKS} blocks, repainted all the time`, figures: { MB: last } })
  return { rows, ratios: { 'memory: at the end over halfway': last / first } }
}

async function readAndRepaint({ port }: Server, sign: () => Uint8Array, ms: number): Promise<void> {
  const canvas = encodeRequest('GET', '/api/canvas', { 'Accept-Encoding': 'gzip' })
  const reading = runLoad({ port, getNextRequest: () => canvas, connections: 2, ms })
  await Promise.all([reading, sendPaced(port, sign, REPAINTS_A_SECOND, ms)])
}
