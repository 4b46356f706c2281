/** Repaints: the cost of one, the cost until everyone can read it, and the effect of many on readers. */

import { join } from 'node:path'
import { TOTAL_BLOCKS } from '../../shared/wall.ts'
import { summariseSamples, type Row, type Scenario } from '../findings.ts'
import { measureCpuMs, runOnEveryProcessor } from '../measure/cpu.ts'
import { runLoad, encodeRequest, sendOnce, type Load } from '../measure/load.ts'
import { computeMedian, measureInTurns, computePercentile, compareCosts } from '../measure/pair.ts'
import { agentsOf, nameWall, type Server } from '../servers/servers.ts'
import { createOwners } from './owners.ts'

// Enough repaints to measure their CPU time, but few enough to sign in advance.
const PER_MS = 1.5

const createPreloadSettings = (file: string) => ({ BUN_OPTIONS: `--preload=${join(import.meta.dir, file)}` })

/**
 * A repaint over HTTP, with each way to recover its signer, compared with the minimum work for a durable, verified
 * repaint.
 */
export const measureRepaint: Scenario = async (servers, pace) => {
  const sign = createOwners(TOTAL_BLOCKS)
  const count = Math.ceil(PER_MS * pace.ms)
  const batches = Array.from({ length: 4 }, () =>
    Array.from({ length: pace.rounds + 1 }, () => Array.from({ length: count }, sign)),
  )
  const [fast = [], slow = [], none = [], least = []] = batches
  const keys = join(servers.folder, 'keys.txt')
  await Bun.write(
    keys,
    none
      .flat()
      .map(({ rs, key }) => `${rs} ${key.toHex()}`)
      .join('\n'),
  )
  const wall = await servers.wall(TOTAL_BLOCKS, 'repaint')
  const viem = await servers.wall(TOTAL_BLOCKS, 'viem-only', createPreloadSettings('only-viem.ts'))
  const unchecked = await servers.wall(TOTAL_BLOCKS, 'unchecked', {
    ...createPreloadSettings('no-verify.ts'),
    WALL_KEYS: keys,
  })
  const createTarget = (name: string, server: Server, rounds: typeof fast) => ({
    name,
    server,
    status: 200,
    requests: () => {
      const batch = rounds.shift() ?? []
      return () => batch.shift()?.bytes
    },
  })
  const samples = await measureInTurns(
    [
      createTarget('viem only', viem, slow),
      createTarget('this wall', wall, fast),
      createTarget('signers looked up', unchecked, none),
      createTarget('a signature check and a shared commit', await servers.floor(), least),
    ],
    { ...pace, ms: 60_000 },
  )
  return {
    rows: summariseSamples(samples),
    ratios: {
      'repaint: times a check and a commit': compareCosts(
        samples,
        'this wall',
        'a signature check and a shared commit',
      ),
      'repaint: times viem only': compareCosts(samples, 'this wall', 'viem only'),
      'repaint: times no recovery': compareCosts(samples, 'this wall', 'signers looked up'),
    },
  }
}

// The largest number of agents that a wall may have in the end.
const MANY_AGENTS = 10_000

// Publications come every 0.9 s at most.
const PUBLISHED_AFTER_MS = 1050

// Work that a process does for the first time, and garbage from its start, does not count.
const WARM_UP_MAX = 3

/** The CPU time from one repaint until every form of the canvas read shows it, on walls of three sizes. */
export const measurePublishing: Scenario = async (servers, { rounds }) => {
  const sizes = [100, 1000, TOTAL_BLOCKS].map((blocks) => ({ blocks, agents: agentsOf(blocks) }))
  const rows: Row[] = []
  const costs: number[] = []
  let [naiveMs, leastMs] = [Number.NaN, Number.NaN]
  const floor = await servers.floor()
  for (const { blocks, agents } of [...sizes, { blocks: TOTAL_BLOCKS, agents: MANY_AGENTS }]) {
    const wall = await servers.wall(blocks, nameWall(blocks, agents), {}, agents)
    const [naive, sign] = [await servers.naive(blocks), createOwners(blocks, agents)]
    await postText(floor, '/parts', `http://127.0.0.1:${wall.port}`)
    const [ours, theirs, least]: [number[], number[], number[]] = [[], [], []]
    for (let round = 0; round < Math.min(rounds, WARM_UP_MAX); round++) {
      await repaintOnce(wall, sign().bytes)
      await rebuild(naive)
    }
    // Garbage collection affects some of the rounds, so there are more of them than elsewhere.
    for (let round = 0; round < 2 * rounds - 1; round++) {
      // The work of an idle process, which does not count.
      const idle = await measureCpuMs(wall.pid, () => Bun.sleep(PUBLISHED_AFTER_MS))
      ours.push((await measureCpuMs(wall.pid, () => repaintOnce(wall, sign().bytes))) - idle)
      theirs.push(await measureCpuMs(naive.pid, () => rebuild(naive)))
      least.push(await measureCpuMs(floor.pid, () => getText(floor, '/publish')))
    }
    naiveMs = computeMedian(theirs)
    leastMs = computeMedian(least)
    costs.push(computeMedian(ours))
    rows.push({
      what: `${blocks} blocks, ${agents} agents`,
      figures: { 'naive CPU ms': naiveMs, 'compressing what changed, CPU ms': leastMs, 'CPU ms': computeMedian(ours) },
    })
  }
  const [few = Number.NaN, many = Number.NaN] = costs.slice(-2)
  return {
    rows,
    ratios: {
      'repaint: to publish, over compressing what changed': many / leastMs,
      'repaint: times naive to publish, full wall': naiveMs / few,
      'repaint: to publish, many agents over few': many / few,
    },
  }
}

const rebuild = (server: Server) => getText(server, '/naive/rebuild')

const getText = async ({ port }: Server, path: string) => await (await fetch(`http://127.0.0.1:${port}${path}`)).text()

const postText = async ({ port }: Server, path: string, body: string) =>
  await (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body })).text()

async function repaintOnce({ port }: Server, bytes: Uint8Array): Promise<void> {
  await sendOnce(port, bytes)
  await Bun.sleep(PUBLISHED_AFTER_MS)
}

// Repaints per second.
const PRESSURES = [0, 200, 1000]

/**
 * Reads of the whole wall, and of health, while it is repainted. Other threads wait for the disk and compile, so this
 * wall can use all CPUs.
 */
export const measureUnderRepaints: Scenario = async (servers, pace) => {
  const [wall, naive, sign] = [
    await servers.wall(TOTAL_BLOCKS),
    await servers.naive(TOTAL_BLOCKS),
    createOwners(TOTAL_BLOCKS),
  ]
  const plain = encodeRequest('PUT', '/naive/repaint', {}, 'repainted')
  const ms = 2 * pace.ms
  const seen = new Map<string, ReadFigures[]>()
  const recordFigures = async (name: string, seeing: Promise<ReadFigures>) =>
    seen.set(name, [...(seen.get(name) ?? []), await seeing])
  for (let round = 0; round < pace.rounds; round++) {
    for (const pressure of PRESSURES)
      await recordFigures(
        `this wall, ${pressure}/s`,
        runOnEveryProcessor(() => measureReads(wall, '/api/canvas', '/api/health', sign, pressure, ms), wall.pid),
      )
    await recordFigures(
      'naive, 200/s',
      measureReads(naive, '/naive/canvas', '/naive/health', () => ({ bytes: plain }), 200, ms),
    )
  }
  const computeFigure = (name: string, figure: keyof ReadFigures) =>
    computeMedian((seen.get(name) ?? []).map((one) => one[figure]))
  const rows = [...seen.keys()].map((what) => ({
    what,
    figures: {
      'canvas/s': computeFigure(what, 'reads'),
      'health p50 ms': computeFigure(what, 'p50'),
      'health p99 ms': computeFigure(what, 'p99'),
      'repaints/s': computeFigure(what, 'repaints'),
    },
  }))
  return {
    rows,
    ratios: {
      'under repaints: reads over idle':
        computeFigure('this wall, 200/s', 'reads') / computeFigure('this wall, 0/s', 'reads'),
      'under repaints: health p99 ms': computeFigure('this wall, 200/s', 'p99'),
      'under repaints: naive health p99 over ours':
        computeFigure('naive, 200/s', 'p99') / computeFigure('this wall, 200/s', 'p99'),
    },
  }
}

type ReadFigures = { readonly reads: number; readonly p50: number; readonly p99: number; readonly repaints: number }

/** Reads the wall and its health during this many repaints per second. */
async function measureReads(
  { port }: Server,
  canvasPath: string,
  healthPath: string,
  sign: () => { readonly bytes: Uint8Array },
  pressure: number,
  ms: number,
): Promise<ReadFigures> {
  // Signs the repaints in advance, because signing would delay the readers.
  const signed = Array.from({ length: Math.ceil((pressure * ms) / 1000) }, () => sign().bytes)
  const takeRepaint = () => signed.pop()
  const canvas = encodeRequest('GET', canvasPath, { 'Accept-Encoding': 'gzip' })
  const health = encodeRequest('GET', healthPath)
  const [reads, probes, painted] = await Promise.all([
    runLoad({ port, next: () => canvas, connections: 2, ms }),
    runLoad({ port, next: () => health, connections: 1, ms }),
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

// Servers close a connection after this many requests, or after more.
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
    if (connections > 0) groups.push(runLoad({ port, next: () => group.pop(), connections, ms: 60_000 }))
    await Bun.sleep(TICK_MS)
  }
  return (await Promise.all(groups)).reduce((sum, { statuses }) => sum + (statuses.get(200) ?? 0), 0)
}
