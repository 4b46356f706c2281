/** The report of a test run. */

import { stripVTControlCharacters } from 'node:util'
import { describeMachine, type MachineState } from './machine.ts'

/** The title of the failed test that a line of `bun test` output reports; `undefined` for other lines. */
export const findFailure = (line: string): string | undefined =>
  /^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$/.exec(stripVTControlCharacters(line))?.[1]

/** The requirement that is missing on this machine, according to a line of output; `undefined` for other lines. */
export const findMissingRequirement = (line: string): string | undefined =>
  /^skipped without (.+)$/.exec(stripVTControlCharacters(line))?.[1]

/** A finished run; `measured` lists states of the machine, taken while the tests ran. */
export type Run = {
  readonly seconds: number
  readonly measured: readonly MachineState[]
  readonly missing: readonly string[]
}

/** One line about a run: how long it took, the mean state of the machine, and what was missing. */
export function formatLastLine({ seconds, measured, missing }: Run): string {
  const computeMean = (of: (state: MachineState) => number) =>
    measured.reduce((sum, state) => sum + of(state), 0) / measured.length
  const usual = {
    load: computeMean(({ load }) => load),
    processors: measured[0]?.processors ?? 0,
    flushMs: computeMean(({ flushMs }) => flushMs),
  }
  const skipped = missing.length === 0 ? 'Nothing was missing' : `Skipped what needs ${missing.toSorted().join(', ')}`
  return `The tests took ${seconds.toFixed(0)} s; on average ${describeMachine(usual)}. ${skipped}; long runs are for \`bun run endurance\`.`
}
