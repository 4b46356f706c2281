/** Repaints: the cost of one until everyone can read it, and the effect of many on readers. */

import { TOTAL_BLOCKS } from '../../shared/wall.ts'
import type { Scenario } from '../findings.ts'
import { measureCpuMs, runOnEveryProcessor } from '../measure/cpu.ts'
import { runLoad, encodeRequest, sendOnce, type Load } from '../measure/load.ts'
import { computeMedian, computePercentile } from '../measure/pair.ts'
import { countAgents, nameWall, type Server } from '../servers/servers.ts'
import { createRepaintSigner } from './owners.ts'

// The largest number of agents that a wall is expected to have.
const MANY_AGENTS = 10_000

// The wall publishes at most once every 0.9 s.
const PUBLISHED_AFTER_MS = 1050

// Work that a process does for the first time, and garbage from its start, do not count.
const WARM_UP_MAX = 3

/** The CPU time from one repaint until every form of the canvas read shows it, on walls of three sizes. */
export const measurePublishing: Scenario = async (servers, { rounds }) => {
  const sizes = [100, 1000, TOTAL_BLOCKS].map((blocks) => ({ blocks, agents: countAgents(blocks) }))
  sizes.push({ blocks: TOTAL_BLOCKS, agents: MANY_AGENTS })
  const walls = await Array.fromAsync(sizes, async ({ blocks, agents }) => {
    const wall = await servers.getWall(blocks, nameWall(blocks, agents), {}, agents)
    const sign = createRepaintSigner(blocks, agents)
    for (let round = 0; round < Math.min(rounds, WARM_UP_MAX); round++) await repaintOnce(wall, sign())
    const costs: { readonly idle: number[]; readonly busy: number[] } = { idle: [], busy: [] }
    return { what: `${blocks} blocks, ${agents} agents`, wall, sign, ...costs }
  })
  // Garbage collection affects some of the rounds, so there are more rounds than in other scenarios.
  for (let round = 0; round < 4 * rounds - 3; round++)
    for (const { wall, sign, idle, busy } of walls) {
      // What the process does without a repaint does not count.
      idle.push(await measureCpuMs(wall.pid, () => Bun.sleep(PUBLISHED_AFTER_MS)))
      busy.push(await measureCpuMs(wall.pid, () => repaintOnce(wall, sign())))
    }
  const rows = walls.map(({ what, idle, busy }) => ({
    what,
    figures: { 'CPU ms': computeMedian(busy) - computeMedian(idle) },
  }))
  const [few = Number.NaN, many = Number.NaN] = rows.slice(-2).map(({ figures }) => figures['CPU ms'])
  return { rows, ratios: { 'repaint: to publish, many agents over few': many / few } }
}

async function repaintOnce({ port }: Server, bytes: Uint8Array): Promise<void> {
  await sendOnce(port, bytes)
  await Bun.sleep(PUBLISHED_AFTER_MS)
}

// Repaints per second.
const PRESSURES = [0, 200, 1000]

/**
 * Reads of the whole wall, and health checks, while blocks are repainted. This wall may use all CPUs, because threads
 * besides its main thread wait for the disk and compile code.
 */
export const measureUnderRepaints: Scenario = async (servers, pace) => {
  const [wall, sign] = [await servers.getWall(TOTAL_BLOCKS), createRepaintSigner(TOTAL_BLOCKS)]
  const seen = new Map<number, ReadFigures[]>(PRESSURES.map((pressure) => [pressure, []]))
  for (let round = 0; round < pace.rounds; round++)
    for (const [pressure, all] of seen)
      all.push(await runOnEveryProcessor(() => measureReads(wall, sign, pressure, 2 * pace.ms), wall.pid))
  const computeFigure = (pressure: number, figure: keyof ReadFigures) =>
    computeMedian((seen.get(pressure) ?? []).map((one) => one[figure]))
  const rows = PRESSURES.map((pressure) => ({
    what: `${pressure} repaints per second`,
    figures: {
      'canvas/s': computeFigure(pressure, 'reads'),
      'health p50 ms': computeFigure(pressure, 'p50'),
      'health p99 ms': computeFigure(pressure, 'p99'),
      'repaints/s': computeFigure(pressure, 'repaints'),
    },
  }))
  return {
    rows,
    ratios: {
      'under repaints: reads over idle': computeFigure(200, 'reads') / computeFigure(0, 'reads'),
      'under repaints: health p99 ms': computeFigure(200, 'p99'),
    },
  }
}

type ReadFigures = { readonly reads: number; readonly p50: number; readonly p99: number; readonly repaints: number }

/** Reads the wall and its health during this many repaints per second. */
async function measureReads(
  { port }: Server,
  sign: () => Uint8Array,
  pressure: number,
  ms: number,
): Promise<ReadFigures> {
  // Signs the repaints in advance, because signing would delay the readers.
  const signed = Array.from({ length: Math.ceil((pressure * ms) / 1000) }, sign)
  const takeRepaint = () => signed.pop()
  const canvas = encodeRequest('GET', '/api/canvas', { 'Accept-Encoding': 'gzip' })
  const health = encodeRequest('GET', '/api/health')
  const [reads, probes, painted] = await Promise.all([
    runLoad({ port, getNextRequest: () => canvas, connections: 2, ms }),
    runLoad({ port, getNextRequest: () => health, connections: 1, ms }),
    sendPaced(port, takeRepaint, pressure, ms),
  ])
  return {
    reads: reads.requests / reads.seconds,
    p50: computePercentile(probes.latenciesMs, 0.5),
    p99: computePercentile(probes.latenciesMs, 0.99),
    repaints: painted / (ms / 1000),
  }
}

const TICK_MS = 20

// Servers accept at least this many requests on a connection before they close it.
const GROUP_MAX = 200

/** Sends requests at a constant rate, in small groups; returns how many got a 200. */
export async function sendPaced(
  port: number,
  make: () => Uint8Array | undefined,
  perSecond: number,
  ms: number,
): Promise<number> {
  const startedAt = performance.now()
  let sent = 0
  const groups: Promise<Load>[] = []
  for (let elapsed = 0; elapsed < ms; elapsed = performance.now() - startedAt) {
    const group = Array.from({ length: Math.floor((elapsed * perSecond) / 1000) - sent }, make)
    sent += group.length
    const connections = Math.ceil(group.length / GROUP_MAX)
    if (connections > 0) groups.push(runLoad({ port, getNextRequest: () => group.pop(), connections, ms: 60_000 }))
    await Bun.sleep(TICK_MS)
  }
  return (await Promise.all(groups)).reduce((sum, { statuses }) => sum + (statuses.get(200) ?? 0), 0)
}
