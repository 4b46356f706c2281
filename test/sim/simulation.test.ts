/** The simulation as far as every test run can afford it; `bun run sim` plays more, `bun run sim --mutants` all the bugs. */

import { afterAll, describe, expect, test } from 'bun:test'
import { simulate } from './history.ts'
import { openModelBook } from './ledger-model.ts'
import { mutants } from './mutants.ts'
import { fateOf, planted } from './mutate.ts'
import { isReal, realBooks } from './sqlite-book.ts'
import { playSeeds } from './workers.ts'

// `bun run sim` plays more.
const SEEDS = 20_000
const WORKERS = 2

// The machine may be busy with something else; nothing here waits for a clock.
const TIMEOUT_MS = 600_000

test(
  'no promise breaks in a hostile world, and plenty happens in it',
  async () => {
    const { broken, total } = await playSeeds(0, SEEDS, WORKERS, () => {})
    expect(broken).toBeUndefined()
    expect(total.seeds).toBe(SEEDS)
    expect(total.sold).toBeGreaterThan(SEEDS)
    expect(total.crashes).toBeGreaterThan(SEEDS / 2)
    for (const answer of ['bought', 'payment_required', 'settlement_unknown', 'deed_not_persisted', 'payment_credited'])
      expect(total.answers[answer] ?? 0).toBeGreaterThan(SEEDS / 100)
  },
  TIMEOUT_MS,
)

// Each broke a promise once; what it showed is written beside it.
const lessons: readonly (readonly [number, string])[] = [
  [182, 'two receipts were owed, one was taken by another request, and the other was passed over'],
  [1570, 'an older purchase was resolved, and the receipt owed for another was passed over'],
  [14946, 'the process died between writing a lost payment off and telling the operator'],
  [1760, 'a payment that landed unasked was forgotten because the store failed'],
  [219, 'of two servers one settled again without a written doubt, and the other gave the block back'],
  [1663, 'one of two servers refused what the other had claimed, settled and given back meanwhile'],
  [21_104_493, 'a request sent again after a crash kept the sweep from its purchase, and failed before it looked'],
  [
    20_466_351,
    'one of two servers told a payer to wait, and the other, which was at the payment, could not read of it',
  ],
  [20_964_419, 'the same, and the one that had told the payer died with its note'],
  [20_887_058, 'a client hung up while its owed receipt was noted as delivered'],
]

describe('a history that once broke a promise', () => {
  const books = realBooks()
  afterAll(books.close)

  test.each(lessons)('seed %d: %s', (seed) => {
    expect(simulate(seed, isReal(seed) ? books.open : openModelBook).events).toBeGreaterThan(0)
  })
})

test('one seed is one history', () => {
  const trace = () => {
    const events: string[] = []
    simulate(7, openModelBook, (event) => events.push(event()))
    return events
  }
  const events = trace()
  expect(events.length).toBeGreaterThan(50)
  expect(trace()).toEqual(events)
})

describe('a planted bug', () => {
  test.each(mutants.map((mutant) => [mutant.name, mutant] as const))('fits the source: %s', (_, mutant) => {
    expect(planted(mutant)).not.toBe('')
  })

  test.each(mutants.filter(({ isCheap }) => isCheap === true).map((mutant) => [mutant.name, mutant] as const))(
    'is found: %s',
    async (_, mutant) => {
      expect((await fateOf(mutant, 2000)).broken).toBeString()
    },
    TIMEOUT_MS,
  )
})
