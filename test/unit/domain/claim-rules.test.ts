import { describe, expect, test } from 'bun:test'
import { StaleWriteError } from '../../../server/domain/failure.ts'
import {
  HOLDS_MAX,
  holdsTooMuch,
  isStale,
  lateTargets,
  RECEIPT_KEPT_MS,
  renewed,
  unansweredFirst,
} from '../../../server/domain/purchase/claim-rules.ts'
import type { Purchase, Sold } from '../../../server/domain/purchase/purchase.ts'
import type { Target } from '../../../server/domain/purchase/target.ts'
import { blockOf, hash, HEAD, listingOf, NOW, paymentOf } from '../../support/samples.ts'

// Goal: what a payer may hold and what goes before a new payment, case by case. Method: purchases as the ledger tells them.

const sold: Sold = {
  kind: 'sold',
  tx: hash(9),
  claimedAt: NOW,
  name: null,
  framework: null,
  settled: true,
  unanswered: true,
}
const held = { kind: 'reserved', uncertain: false, attempt: 1 } as const
const at = blockOf('3,4')

const bought = (state: Purchase['state'], target: Target = at, nonce = 1, identifier?: string): Purchase => ({
  payment: { ...paymentOf(1, nonce), ...(identifier === undefined ? {} : { identifier }) },
  target,
  block: typeof target === 'number' ? target : at,
  listing: listingOf(),
  head: HEAD,
  state,
})

describe('an earlier purchase goes before a new payment', () => {
  const asking = { target: at as Target, payment: paymentOf(1, 2), now: NOW, attended: [] as readonly `0x${string}`[] }
  const late = { ...sold, claimedAt: NOW - RECEIPT_KEPT_MS }
  const answered = { ...sold, unanswered: false }
  const attended = { ...asking, attended: [hash(1)] }
  const asNext = { ...asking, target: 'next' as const }
  test.each([
    ['held, and no run is at it', bought(held), asking, true],
    ['held, while a run is at it for a client', bought(held), attended, false],
    ['held in doubt, though a run is at it', bought({ ...held, uncertain: true }), attended, true],
    ['held, of another block', bought(held, blockOf('5,6')), asking, false],
    ['sold, and its receipt did not go out', bought(sold), asking, true],
    ['sold and answered', bought(answered), asking, false],
    ['sold, and handed over to this payment', bought({ ...answered, handedTo: hash(2) }), asking, true],
    ['sold, and handed over to another payment', bought({ ...answered, handedTo: hash(3) }), asking, false],
    ['sold as next, asked for by its place, however long ago', bought(late, 'next'), asking, true],
    ['sold as next, and asked for as next in time', bought(sold, 'next'), asNext, true],
    ['sold as next, and asked for as next too late', bought(late, 'next'), asNext, false],
    ['released', bought({ kind: 'released', isFinal: false }), asking, false],
    ['the payment itself', bought(held), { ...asking, payment: paymentOf(1, 1) }, false],
    [
      'of the same name, whatever it was for, and answered',
      bought(answered, blockOf('5,6'), 1, 'order'),
      { ...asking, payment: { ...paymentOf(1, 2), identifier: 'order' } },
      true,
    ],
  ])('%s', (_, purchase, request, goesFirst) => {
    expect(unansweredFirst([purchase], request)).toBe(goesFirst ? purchase : undefined)
  })

  test('a receipt goes before what still has to end, and of several the first', () => {
    const [first, second, third] = [bought(held, at, 3), bought(sold, at, 4), bought(sold, at, 5)]
    expect(unansweredFirst([first, second, third], asking)).toBe(second)
    expect(unansweredFirst([first, bought(held, at, 6)], asking)).toBe(first)
    const handedOver = bought({ ...answered, handedTo: hash(2) }, at, 7)
    expect(unansweredFirst([first, second, handedOver], asking)).toBe(handedOver)
  })
})

test('a payer holds at most so many purchases, and so many blocks by them', () => {
  const many = Array.from({ length: HOLDS_MAX - 1 }, (_, nonce) => bought(held, blockOf(`${nonce},1`), nonce))
  expect(holdsTooMuch(many, at)).toBe(false)
  expect(holdsTooMuch([...many, bought(held)], at)).toBe(true)
  expect(holdsTooMuch([...many, bought(sold)], at)).toBe(false)
  expect(holdsTooMuch([bought(held, 'next,20x20')], at)).toBe(true)
  expect(holdsTooMuch([bought(held, 'next,19x21')], at)).toBe(false)
})

test.each<[string, Purchase['state'], Purchase['state'], boolean]>([
  ['is held as before', held, held, false],
  ['is held by another attempt', held, { ...held, attempt: 2 }, true],
  ['is held, and its payer was told to wait', held, { ...held, uncertain: true }, true],
  ['was in doubt already', { ...held, uncertain: true }, { ...held, uncertain: true }, false],
  ['was released, and is held again', { kind: 'released', isFinal: false }, held, true],
  ['was held, and is released', held, { kind: 'released', isFinal: false }, false],
])('what a run knows of a payment that %s is stale or not', (_, before, now, isOld) => {
  expect(isStale(bought(now), bought(before))).toBe(isOld)
})

test('what a run knows of a payment is stale once its payer signed it for another time', () => {
  const released = bought({ kind: 'released', isFinal: false })
  const renewal = { ...released, payment: paymentOf(1, 1, { validBefore: 600n }) }
  expect(isStale(renewal, released)).toBe(true)
})

test('of two authorizations with one nonce the one that lasts is kept, under the first name', () => {
  const before = { ...paymentOf(1, 1, { validBefore: 500n }), identifier: 'order' }
  const longer = paymentOf(1, 1, { validBefore: 600n })
  expect(renewed(before, longer)).toEqual({ ...longer, identifier: 'order' })
  expect(renewed(before, paymentOf(1, 1, { validBefore: 400n }))).toBe(before)
  expect(() => renewed(before, paymentOf(1, 1, { to: hash(7), validBefore: 600n }))).toThrow(StaleWriteError)
})

test('a late payment gets its own place, else the nearest of its size', () => {
  expect(lateTargets({ target: 'next', block: at })).toEqual([at, 'next'])
  expect(lateTargets({ target: '3,4,2x3', block: at })).toEqual(['3,4,2x3', 'next,2x3'])
})
