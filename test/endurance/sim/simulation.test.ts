/** The simulation as far as every test run can afford it; `bun run sim` plays more, `bun run sim --mutants` all the bugs. */

import { afterAll, describe, expect, test } from 'bun:test'
import { randomInt } from 'node:crypto'
import { simulate } from './history.ts'
import { openModelBook } from './ledger-model.ts'
import { mutants } from './mutants/mutants.ts'
import { fateOf, planted } from './mutants/mutate.ts'
import { isReal, realBooks } from './sqlite-book.ts'
import { playSeeds } from './workers.ts'

const SEEDS = 1000
// The titles of the tests print it, and a seed that breaks a promise is played again by `bun run sim --seed S`.
const NEW = randomInt(2 ** 32)

// The machine may be busy with something else; nothing here waits for a clock.
const TIMEOUT_MS = 600_000

test.each([0, NEW])(
  'no promise breaks in a thousand hostile histories from seed %d on, and plenty happens in them',
  async (from) => {
    const { broken, total } = await playSeeds(from, SEEDS, 1, () => {})
    expect(broken).toBeUndefined()
    expect(total.seeds).toBe(SEEDS)
    expect(total.sold).toBeGreaterThan(SEEDS)
    expect(total.areas).toBeGreaterThan(SEEDS / 10)
    expect(total.crashes).toBeGreaterThan(SEEDS / 2)
    for (const answer of ['bought', 'payment_required', 'settlement_unknown', 'deed_not_persisted'])
      expect(total.answers[answer] ?? 0).toBeGreaterThan(0)
  },
  TIMEOUT_MS,
)

// Each broke a promise once; what it showed is written beside it.
const lessons: readonly (readonly [number, string])[] = [
  [51, 'a payment was refused, somebody broadcast it, and it was called used before when it was sent again'],
  [1531, 'the same, while it was being looked at'],
  [28711, 'two purchases of a payer waited for each other'],
  [280, 'of two unanswered purchases one was resolved, and the other had emptied the wallet'],
  [564, 'an endpoint that lagged was believed after another had shown the payment'],
  [2157, 'a block was claimed for a client that had hung up and asked anew'],
  [17_468, "sweeps that failed used up a wallet's budget, and the next one passed over what was never looked at"],
  [
    31_976,
    'a request to settle arrived twice: the first broadcast, the second denied it, and a later block was looked at',
  ],
  [30_065_102, 'the ring of facilitators was shown the payment, and an endpoint that lagged was believed after it'],
  [7549, 'the store failed while a receipt was handed over, and it was marked as answered'],
  [
    4_174_474_439,
    'one server recorded a refused payment, and did not see that another had claimed and settled it since',
  ],
  [
    2_455_784_687,
    'one server gave up a payment that another had claimed meanwhile, because its payer had signed it for longer',
  ],
  [
    3_514_438_817,
    'a payment that was cancelled waited for ever, because its payer had bought the very block with another',
  ],
  [2_255_867_193, 'the same with a payment that had expired'],
  [47_351_697, 'a client signed anew beside a payment that was refused and could still be sold'],
  [1_416_896_435, 'a payment signed for longer was taken up without its lease, while another server was at it'],
  [3_029_014_470, 'a stranger broadcast a longer authorization of a nonce that was never recorded'],
  [583_034_874, 'a payment that was answered with an earlier receipt was told to wait for ever once it had expired'],
  [3_106_778_314, 'the same once its nonce was spent elsewhere'],
  [
    4_090_481_513,
    'the same asked for another block, and was said not to be charged though a stranger had broadcast it',
  ],
  [610_450_603, 'a reorganisation took back a cancellation after the client had signed anew'],
  [3_705_792_474, 'a block was given back although its payment had been seen spent, in a block that was replaced'],
  [
    2_412_561_291,
    'a facilitator called a nonce used that a server behind the chain saw unspent, and its payer was asked anew',
  ],
  [1_306_798_859, 'one server refused a released payment that another saw land in that moment'],
  [2_224_039_002, 'a chain that stood still denied a payment that a facilitator called settled'],
  [3_489_347_286, 'a facilitator called a payment settled after the chain had denied what another said of it'],
  [4_124_956_870, 'a sale of a server whose clock was an hour ahead counted as new for an hour'],
  [2_753_040_536, 'a nonce was signed for two amounts, and the one that paid was called not charged'],
  [1_971_506_840, 'a nonce was signed for two amounts, and a stranger broadcast the one that was not recorded'],
  [
    1_685_090_152,
    'an authorization had expired, and its payer had signed its nonce for longer: that was spent, and not looked for',
  ],
  [1_000_069, 'a process died after it had sent a payment to a facilitator, and the next one called it uncharged'],
  [1_001_627, 'one server had sent a payment to a facilitator, and the other one called it uncharged'],
  [1089, 'the same after a restart, as the clock was set meanwhile'],
  [4_005_823, 'one server sent a payment to a facilitator without a lease, and the other one called it uncharged'],
  [11_642, 'an authorization expired, and one that its payer had signed for longer was called uncharged with it'],
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
      expect((await fateOf(mutant, 4000)).broken).toBeString()
    },
    TIMEOUT_MS,
  )
})
