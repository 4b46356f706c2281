/** Measures several servers in turns, so that other load on the machine affects all of them equally. */

import type { Server } from '../servers/servers.ts'
import { readCpuUs } from './cpu.ts'
import { runLoad } from './load.ts'

/** One way of serving a request. */
export type Target = {
  readonly name: string
  readonly server: Server
  readonly status: number // of every correct response
  /** Starts a round; each call of the returned function gives the next request, or nothing if none is left. */
  readonly startRound: () => () => Uint8Array | undefined
  readonly connections?: number
}

/**
 * How many rounds are measured, and how long (`ms`) each target is measured in a round. `warmMs` is how long servers
 * run before they are compared. `steadyMs` is how long a value that should stay constant is watched.
 */
export type Pace = Readonly<Record<'rounds' | 'ms' | 'warmMs' | 'steadyMs', number>>

/** The figures of one target in one round. */
export type Sample = { readonly rate: number; readonly p50: number; readonly p99: number; readonly cpu: number }

/** The samples of all rounds, by the name of the target. */
export type Samples = ReadonlyMap<string, readonly Sample[]>

/**
 * Warms up all targets, then sends requests to each in every round. Every round starts with a different target. Throws
 * if a response has the wrong status.
 */
export async function measureInTurns(
  targets: readonly Target[],
  { rounds, ms, warmMs }: Omit<Pace, 'steadyMs'>,
): Promise<Samples> {
  const samples = new Map<string, Sample[]>(targets.map(({ name }) => [name, []]))
  for (const target of targets) await measureSample(target, warmMs)
  for (let round = 0; round < rounds; round++)
    for (const [at] of targets.entries()) {
      const target = targets[(at + round) % targets.length]
      if (target !== undefined) samples.get(target.name)?.push(await measureSample(target, ms))
    }
  return samples
}

async function measureSample(
  { name, server, status, startRound, connections = 16 }: Target,
  ms: number,
): Promise<Sample> {
  const before = readCpuUs(server.pid)
  const heard = await runLoad({ port: server.port, getNextRequest: startRound(), connections, ms })
  const used = readCpuUs(server.pid) - before
  const right = heard.statuses.get(status) ?? 0
  if (right === 0 || right < heard.requests)
    throw new Error(`${name} answered ${JSON.stringify([...heard.statuses])} instead of ${status}`)
  return {
    rate: heard.requests / heard.seconds,
    p50: computePercentile(heard.latenciesMs, 0.5),
    p99: computePercentile(heard.latenciesMs, 0.99),
    cpu: used / heard.requests,
  }
}

/** The value that a given share of all values does not exceed. */
export function computePercentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const computeMedian = (values: readonly number[]): number => computePercentile(values, 0.5)

/** The median of each figure of a target. */
export function computeMedians(samples: readonly Sample[]): Sample {
  const computeFigure = (figure: keyof Sample) => computeMedian(samples.map((one) => one[figure]))
  return {
    rate: computeFigure('rate'),
    p50: computeFigure('p50'),
    p99: computeFigure('p99'),
    cpu: computeFigure('cpu'),
  }
}

/**
 * The cost of a request to `reference` divided by that of one to `target`, as CPU time per request: the median of the
 * rounds' ratios. CPU time excludes the client and other programs on the machine. If CPU time cannot be read, responses
 * per second are compared instead.
 */
export function compareCosts(samples: Samples, target: string, reference: string): number {
  const [ours, theirs] = [samples.get(target) ?? [], samples.get(reference) ?? []]
  const ratios = ours.map((one, round) => {
    const other = theirs[round]
    if (other === undefined) return Number.NaN
    return Number.isNaN(one.cpu) ? one.rate / other.rate : other.cpu / one.cpu
  })
  return computeMedian(ratios)
}
