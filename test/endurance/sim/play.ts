/** Plays many histories in this process, and passes progress reports, as JSON lines, to a callback. */

import type { Sums } from './check.ts'
import { hasWideWall, hasTwoServers, simulate, type Report } from './history.ts'
import { openModelBook } from './ledger-model.ts'
import { usesRealBook, openRealBooks } from './sqlite-book.ts'
import { hasEndpoints, hasNewPrices, hasOperator } from './world.ts'

/** The summed counts of a batch of histories. */
export type Totals = Sums & {
  readonly seeds: number
  readonly events: number
  readonly requests: number
  readonly crashes: number
  readonly answers: Readonly<Record<string, number>>
}

/** The seed of a history that broke a promise, and the message of the error. */
export type Broken = { readonly seed: number; readonly broken: string }

export const NOTHING: Totals = {
  seeds: 0,
  events: 0,
  requests: 0,
  charged: 0,
  sold: 0,
  areas: 0,
  crashes: 0,
  answers: {},
}

const EVERY = 250

/**
 * The histories to play. `real`: every history uses the real engine; `twins`: only histories with two servers;
 * `endpoints`: only those with the chain adapter; `operator`: only those with restored older copies; `prices`: only
 * those whose prices change all the time; `wide`: only those with a wide wall.
 */
export type Choice = {
  readonly real: boolean
  readonly twins: boolean
  readonly endpoints: boolean
  readonly operator: boolean
  readonly prices: boolean
  readonly wide: boolean
}

const isChosen = (seed: number, { twins, endpoints, operator, prices, wide }: Choice): boolean =>
  (!twins || hasTwoServers(seed)) &&
  (!endpoints || hasEndpoints(seed)) &&
  (!operator || hasOperator(seed)) &&
  (!prices || hasNewPrices(seed)) &&
  (!wide || hasWideWall(seed))

/**
 * Plays the seeds from `from` up to, but not including, `end`. Passes `Totals` to `print` regularly. Ends at the first
 * broken promise, and passes it as `Broken`.
 */
export function playRange(from: number, end: number, choice: Choice, print: (line: string) => void): void {
  const books = openRealBooks()
  let totals = NOTHING
  let seed = from
  try {
    for (; seed < end; seed += 1) {
      const open = choice.real || usesRealBook(seed) ? books.open : openModelBook
      if (isChosen(seed, choice)) totals = addTotals(totals, toTotals(simulate(seed, open)))
      if (totals.seeds < EVERY && seed + 1 < end) continue
      print(JSON.stringify(totals))
      totals = NOTHING
    }
  } catch (error) {
    print(JSON.stringify({ seed, broken: String(error) } satisfies Broken))
  } finally {
    books.close()
  }
}

const toTotals = ({ answers, ...counts }: Report): Totals => ({
  seeds: 1,
  ...counts,
  answers: Object.fromEntries(answers),
})

/** The sum of two totals. */
export function addTotals(one: Totals, other: Totals): Totals {
  const answers = { ...one.answers }
  for (const [name, count] of Object.entries(other.answers)) answers[name] = (answers[name] ?? 0) + count
  return {
    seeds: one.seeds + other.seeds,
    events: one.events + other.events,
    requests: one.requests + other.requests,
    charged: one.charged + other.charged,
    sold: one.sold + other.sold,
    areas: one.areas + other.areas,
    crashes: one.crashes + other.crashes,
    answers,
  }
}
