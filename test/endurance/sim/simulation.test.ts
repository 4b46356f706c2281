/**
 * The part of the simulation that is fast enough for every test run. `bun run sim` plays more histories, and `bun run
 * sim
 * --mutants` plants every bug.
 */

import { afterAll, describe, expect, test } from 'bun:test'
import { randomInt } from 'node:crypto'
import { simulate } from './history.ts'
import { openModelBook } from './ledger-model.ts'
import { mutants } from './mutants/mutants.ts'
import { runMutant, plantBug } from './mutants/mutate.ts'
import { usesRealBook, openRealBooks } from './sqlite-book.ts'
import { playSeeds } from './workers.ts'

const SEEDS = 1000
// The titles of the tests show this seed, and `bun run sim --seed S` replays a seed that breaks a promise.
const NEW = randomInt(2 ** 32)

// The timeout is long because the machine may be busy with other work; the simulation itself waits for no real clock.
const TIMEOUT_MS = 600_000

test.each([0, NEW])(
  'a thousand hostile histories from seed %d on break no promise, and contain enough sales, areas, crashes and kinds of response',
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

// Each history once broke a promise, as described.
const lessons: readonly (readonly [number, string])[] = [
  [51, 'a payment was rejected, somebody broadcast it, and its resend was rejected as already used'],
  [1531, 'a payment was rejected, and somebody broadcast it while it was being checked'],
  [28711, 'two purchases of a payer waited for each other'],
  [280, 'one of two unanswered purchases was resolved, but the other one had emptied the wallet'],
  [564, 'the wall believed an endpoint that lagged behind, although another endpoint had shown the payment'],
  [2157, 'a block was claimed for a request whose client had disconnected and had requested the block again'],
  [17_468, 'failed sweeps used up the budget of a wallet, and the next sweep skipped an unchecked purchase'],
  [
    31_976,
    'a settle request arrived twice, the first copy was broadcast, and the wall believed the rejection of the second after a later block',
  ],
  [
    30_065_102,
    'the ring of facilitators had seen the payment, and the wall then believed an endpoint that lagged behind',
  ],
  [
    7549,
    'the database failed while a receipt was returned for a later payment, and the purchase of that receipt was marked as answered',
  ],
  [
    4_174_474_439,
    'one server recorded a rejected payment, and did not see that another server had claimed and settled it since',
  ],
  [
    2_455_784_687,
    'a payer signed a payment again with a later expiry, one server claimed it, and another server released it',
  ],
  [
    3_514_438_817,
    'a cancelled payment was never resolved, because its payer had bought the same block with another payment',
  ],
  [
    2_255_867_193,
    'an expired payment was never resolved, because its payer had bought the same block with another payment',
  ],
  [47_351_697, 'a client signed a new payment while a rejected one could still be sold'],
  [
    1_416_896_435,
    'a payment signed again with a later expiry was resumed without its lease while another server worked on it',
  ],
  [
    3_029_014_470,
    'somebody else broadcast an authorization, but only one with the same nonce and an earlier expiry was recorded',
  ],
  [
    583_034_874,
    'the payer of a payment that was answered with an earlier receipt had to wait forever once the payment had expired',
  ],
  [80_150_251, 'a server lost the lease of a payment and reported it as uncharged while another server sent it'],
  [80_227_347, 'a server that had been frozen renewed a lost lease, and reported a sent payment as uncharged'],
  [80_316_855, 'a payer was asked for a new payment while another server claimed an earlier one'],
  [82_046_352, 'an altered order with an invalid listing was rejected without checking whether its money had moved'],
  [100_069_215, 'a server forgot that it had lost a lease, and later reported a sent payment as uncharged'],
  [
    100_325_627,
    'a server that had lost its lease asked for a new payment while another server was settling the first one',
  ],
  [
    102_120_171,
    'a server renewed its lease only after reading the store, and asked for a new payment although the first one had bought a block',
  ],
  [
    102_752_754,
    'a resent payment ended during its retry, and its payer was asked for a new payment while the money of an earlier one moved',
  ],
  [130_089_566, 'a payment was rejected while the check of a restored copy booked it as a credit'],
  [148_295_591, 'a payment was rejected as expired after a longer authorization of its nonce had settled unseen'],
  [
    3_106_778_314,
    'the payer of a payment that was answered with an earlier receipt had to wait forever once the nonce was spent',
  ],
  [
    4_090_481_513,
    'a payment answered with an earlier receipt was sent for another block, and reported as uncharged although it was broadcast',
  ],
  [610_450_603, 'a reorganisation undid a cancellation after the client had signed a new payment'],
  [
    3_705_792_474,
    'a block was released although its payment had been seen on the chain, in a chain block that was then replaced',
  ],
  [
    2_412_561_291,
    'a facilitator reported a nonce as used, a server that lagged behind saw it as unspent, and the payer was asked to pay again',
  ],
  [1_306_798_859, 'one server rejected a released payment while another server saw the payment settle'],
  [2_224_039_002, 'a stalled chain still showed a payment as unspent after a facilitator had reported it as settled'],
  [
    3_489_347_286,
    'a facilitator reported a payment as settled after the chain had denied the report of another facilitator',
  ],
  [4_124_956_870, 'a sale by a server whose clock was an hour ahead counted as new for an hour'],
  [2_753_040_536, 'a nonce was signed for two amounts, and the payment that moved money was reported as uncharged'],
  [1_971_506_840, 'a nonce was signed for two amounts, and somebody broadcast the one that was not recorded'],
  [
    1_685_090_152,
    'an expired authorization was signed again with a later expiry, and the transfer of the new authorization was not found',
  ],
  [
    1_000_069,
    'a process crashed after it had sent a payment to a facilitator, and the next process reported the payment as uncharged',
  ],
  [1_001_627, 'one server had sent a payment to a facilitator, and the other server reported the payment as uncharged'],
  [
    1089,
    'one server had sent a payment, and the other server reported it as uncharged after a restart with a changed clock',
  ],
  [
    4_005_823,
    'one server sent a payment to a facilitator without a lease, and the other server reported the payment as uncharged',
  ],
  [
    11_642,
    'an authorization expired, and another one of the same payer with a later expiry was also reported as uncharged',
  ],
]

describe('a history that once broke a promise now breaks none', () => {
  const books = openRealBooks()
  afterAll(books.close)

  test.each(lessons)('seed %d: %s', (seed) => {
    expect(simulate(seed, usesRealBook(seed) ? books.open : openModelBook).events).toBeGreaterThan(0)
  })
})

test('two runs of the simulation with the same seed play the same history', () => {
  const recordTrace = () => {
    const events: string[] = []
    simulate(7, openModelBook, (event) => events.push(event()))
    return events
  }
  const events = recordTrace()
  expect(events.length).toBeGreaterThan(50)
  expect(recordTrace()).toEqual(events)
})

describe('planted bugs', () => {
  test.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    'the text that the planted bug replaces occurs once in the source: %s',
    (_, mutant) => {
      expect(plantBug(mutant)).not.toBe('')
    },
  )

  test.each(mutants.filter(({ seed }) => seed !== undefined).map((mutant) => [mutant.name, mutant] as const))(
    'the simulation finds the planted bug: %s',
    async (_, mutant) => {
      expect((await runMutant(mutant, 4000, mutant.seed)).broken).toStartWith('Violation: ')
    },
    TIMEOUT_MS,
  )
})
