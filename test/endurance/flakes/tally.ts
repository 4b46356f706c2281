/** Reads the output of `bun test`, and counts how often each test failed. */

import { formatCountWithNoun } from '../../../shared/money.ts'
import { findFailure } from '../../support/run-report.ts'

/** How a round ended. */
type RoundEnd = 'passed' | 'failed' | 'cut short'

/** The result of one round; each failure is a file and a test name. If the round was cut short, the result is partial. */
export type Round = { readonly end: RoundEnd; readonly passed: number; readonly failed: readonly string[] }

/**
 * Parses the output of a round. If the round failed but no test did, for example because a file cannot be loaded, the
 * run itself counts as the failure.
 */
export function parseRound(output: string, end: RoundEnd): Round {
  let file = ''
  let passed = 0
  const failed = new Set<string>()
  for (const line of output.split('\n')) {
    file = /^(\S+\.(?:test|long)\.ts):$/.exec(line)?.[1] ?? file
    // The summary at the end repeats earlier lines.
    if (/^\d+ tests? (?:failed|skipped):$/.test(line)) break
    if (line.startsWith('(pass) ')) passed += 1
    const name = findFailure(line)
    if (name !== undefined) failed.add(`${file}: ${name}`)
  }
  if (failed.size === 0 && end === 'failed') failed.add('the run itself')
  return { end, passed, failed: [...failed] }
}

/** A table of the number of rounds in which each test failed, highest first. */
export function renderTable(rounds: readonly Round[]): string {
  const counts = new Map<string, number>()
  for (const { failed } of rounds) for (const name of failed) counts.set(name, (counts.get(name) ?? 0) + 1)
  const whole = rounds.filter(({ end }) => end !== 'cut short').length
  const played = `${formatCountWithNoun(whole, 'whole round')}${whole < rounds.length ? ' and one cut short' : ''}`
  if (counts.size === 0) return `nothing failed in ${played}`
  const rows = [...counts].toSorted(([, a], [, b]) => b - a)
  return [`failures in ${played}`, ...rows.map(([name, count]) => `${String(count).padStart(6)}  ${name}`)].join('\n')
}
