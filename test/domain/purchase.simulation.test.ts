/**
 * Thousands of histories in which everything fails that can, and no promise may break. A failing seed is printed with
 * its trace; `SIM_SEED=1234 bun test purchase.simulation` plays one seed again, `SIM_SEEDS=100000` plays more.
 */

import { expect, test } from 'bun:test'
import { openModelBook, type OpenBook } from '../sim/ledger-model.ts'
import { simulate, type Report } from '../sim/run.ts'
import { sqliteBooks } from '../sim/sqlite-book.ts'

const SEEDS = Number(Bun.env['SIM_SEEDS'] ?? 4000)
const ONLY = Bun.env['SIM_SEED']

// Long enough for more seeds than the usual ones, too.
const TIMEOUT_MS = 600_000

// The real engine plays fewer histories in the time; the seeds are the same, so what differs is the engine.
const SQLITE_SHARE = 1 / 20

test(
  'no promise breaks in a hostile world, over a model of the ledger',
  async () => {
    const reports = await play(openModelBook, SEEDS)
    if (ONLY === undefined) expectAnEventfulLife(reports)
  },
  TIMEOUT_MS,
)

test(
  'no promise breaks in a hostile world, over the real ledger',
  async () => {
    const books = sqliteBooks()
    try {
      await play(books.open, SEEDS * SQLITE_SHARE)
    } finally {
      books.close()
    }
  },
  TIMEOUT_MS,
)

async function play(open: OpenBook, seeds: number): Promise<readonly Report[]> {
  const first = ONLY === undefined ? 0 : Number(ONLY)
  const end = ONLY === undefined ? seeds : first + 1
  const reports: Report[] = []
  for (let seed = first; seed < end; seed += 1) {
    try {
      reports.push(await simulate(seed, open))
    } catch (error) {
      throw new Error(`seed ${seed}: ${String(error)}\n${await traceOf(seed, open)}`, { cause: error })
    }
  }
  return reports
}

/** The same history once more, written down. */
async function traceOf(seed: number, open: OpenBook): Promise<string> {
  const events: string[] = []
  await simulate(seed, open, (event) => events.push(event())).catch(() => {})
  return events.join('\n')
}

/** Histories in which little happens prove little. */
function expectAnEventfulLife(reports: readonly Report[]): void {
  const sum = (count: (report: Report) => number) => reports.reduce((total, report) => total + count(report), 0)
  expect(sum(({ sold }) => sold)).toBeGreaterThan(reports.length / 2)
  expect(sum(({ crashes }) => crashes)).toBeGreaterThan(reports.length / 4)
  for (const answer of ['bought', 'payment_required', 'settlement_unknown', 'deed_not_persisted', 'payment_credited'])
    expect(sum(({ answers }) => answers.get(answer) ?? 0)).toBeGreaterThan(reports.length / 100)
}
