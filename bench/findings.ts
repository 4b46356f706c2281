/** The results of measurements, as numbers for a table, a file and a check. */

import { computeMedians, type Pace, type Samples } from './measure/pair.ts'
import type { Servers } from './servers/servers.ts'

/** One row: a measured target and its figures. The name of a figure includes the unit. */
export type Row = { readonly what: string; readonly figures: Readonly<Record<string, number>> }

/** The result of a scenario. Ratios are named as in goals.json. */
export type Findings = { readonly rows: readonly Row[]; readonly ratios: Readonly<Record<string, number>> }

/** Measures one subject on the given servers. */
export type Scenario = (servers: Servers, pace: Pace) => Promise<Findings>

/** Returns a row of medians for each target that was measured in turn. */
export function summariseSamples(samples: Samples): Row[] {
  return [...samples].map(([what, all]) => {
    const { rate, p50, p99, cpu } = computeMedians(all)
    return { what, figures: { 'req/s': rate, 'p50 ms': p50, 'p99 ms': p99, 'CPU µs': cpu } }
  })
}
