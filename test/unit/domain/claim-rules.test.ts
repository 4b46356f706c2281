import { describe, expect, test } from 'bun:test'
import { StaleWriteError } from '../../../server/domain/failure.ts'
import {
  HOLDS_MAX,
  exceedsHoldLimits,
  isStale,
  listLateTargets,
  RECEIPT_KEPT_MS,
  keepLongerAuthorization,
  findPurchaseToResolveFirst,
} from '../../../server/domain/purchase/claim-rules.ts'
import type { Purchase, Sold } from '../../../server/domain/purchase/purchase.ts'
import type { Target } from '../../../server/domain/purchase/target.ts'
import { parseBlockOrThrow, toHash, HEAD, createTestListing, NOW, createTestPayment } from '../../support/samples.ts'

// Goal: a payer may not hold too much, and the right earlier purchase is resolved first, case by case. Method:
// purchases as the ledger returns them.

const sold: Sold = {
  kind: 'sold',
  tx: toHash(9),
  claimedAt: NOW,
  name: null,
  framework: null,
  settled: true,
  unanswered: true,
}
const held = { kind: 'reserved', uncertain: false, attempt: 1 } as const
const at = parseBlockOrThrow('3,4')

const createPurchase = (state: Purchase['state'], target: Target = at, nonce = 1, identifier?: string): Purchase => ({
  payment: { ...createTestPayment(1, nonce), ...(identifier === undefined ? {} : { identifier }) },
  target,
  block: typeof target === 'number' ? target : at,
  listing: createTestListing(),
  head: HEAD,
  state,
})

describe('the earlier purchase to resolve before a new payment', () => {
  const asking = {
    target: at as Target,
    payment: createTestPayment(1, 2),
    now: NOW,
    activeNonces: [] as readonly `0x${string}`[],
  }
  const late = { ...sold, claimedAt: NOW - RECEIPT_KEPT_MS }
  const answered = { ...sold, unanswered: false }
  const whileActive = { ...asking, activeNonces: [toHash(1)] }
  const asNext = { ...asking, target: 'next' as const }
  test.each([
    ['a held purchase without an active run comes first', createPurchase(held), asking, true],
    [
      'a held purchase does not come first while a run works on it for a client',
      createPurchase(held),
      whileActive,
      false,
    ],
    [
      'an uncertain purchase comes first even if a run works on it',
      createPurchase({ ...held, uncertain: true }),
      whileActive,
      true,
    ],
    [
      'a held purchase of another block does not come first',
      createPurchase(held, parseBlockOrThrow('5,6')),
      asking,
      false,
    ],
    ['a sold purchase whose receipt was not sent comes first', createPurchase(sold), asking, true],
    ['a sale whose receipt was sent does not come first', createPurchase(answered), asking, false],
    [
      'a sale whose receipt already answered this payment comes first',
      createPurchase({ ...answered, receiptReusedFor: toHash(2) }),
      asking,
      true,
    ],
    [
      'a sale whose receipt answered another payment does not come first',
      createPurchase({ ...answered, receiptReusedFor: toHash(3) }),
      asking,
      false,
    ],
    [
      'an unanswered sale of the next block comes first if its own block is requested, however old the sale is',
      createPurchase(late, 'next'),
      asking,
      true,
    ],
    [
      'an unanswered sale of the next block comes first if another next block is requested while its receipt is kept',
      createPurchase(sold, 'next'),
      asNext,
      true,
    ],
    [
      'an unanswered sale of the next block does not come first if another next block is requested after its receipt expired',
      createPurchase(late, 'next'),
      asNext,
      false,
    ],
    ['a released purchase does not come first', createPurchase({ kind: 'released', isFinal: false }), asking, false],
    [
      'a payment does not come before itself',
      createPurchase(held),
      { ...asking, payment: createTestPayment(1, 1) },
      false,
    ],
    [
      'an answered sale with the same payment-identifier comes first, even for another target',
      createPurchase(answered, parseBlockOrThrow('5,6'), 1, 'order'),
      { ...asking, payment: { ...createTestPayment(1, 2), identifier: 'order' } },
      true,
    ],
  ])('%s', (_, purchase, request, goesFirst) => {
    expect(findPurchaseToResolveFirst([purchase], request)).toBe(goesFirst ? purchase : undefined)
  })

  test('a sale whose receipt was reused comes first, then the other sales from the oldest to the newest, and then held purchases', () => {
    const [first, second, third] = [
      createPurchase(held, at, 3),
      createPurchase(sold, at, 4),
      createPurchase(sold, at, 5),
    ]
    expect(findPurchaseToResolveFirst([first, second, third], asking)).toBe(second)
    expect(findPurchaseToResolveFirst([first, createPurchase(held, at, 6)], asking)).toBe(first)
    const reused = createPurchase({ ...answered, receiptReusedFor: toHash(2) }, at, 7)
    expect(findPurchaseToResolveFirst([first, second, reused], asking)).toBe(reused)
  })
})

test('a payer cannot exceed the limits on unresolved purchases and on held blocks', () => {
  const many = Array.from({ length: HOLDS_MAX - 1 }, (_, nonce) =>
    createPurchase(held, parseBlockOrThrow(`${nonce},1`), nonce),
  )
  expect(exceedsHoldLimits(many, at)).toBe(false)
  expect(exceedsHoldLimits([...many, createPurchase(held)], at)).toBe(true)
  expect(exceedsHoldLimits([...many, createPurchase(sold)], at)).toBe(false)
  expect(exceedsHoldLimits([createPurchase(held, 'next,20x20')], at)).toBe(true)
  expect(exceedsHoldLimits([createPurchase(held, 'next,19x21')], at)).toBe(false)
})

test.each<[string, Purchase['state'], Purchase['state'], boolean]>([
  ['a purchase that the same attempt still holds is not stale', held, held, false],
  ['a purchase that another attempt holds is stale', held, { ...held, attempt: 2 }, true],
  ['a held purchase whose payer was asked to retry is stale', held, { ...held, uncertain: true }, true],
  [
    'a purchase that was already uncertain is not stale',
    { ...held, uncertain: true },
    { ...held, uncertain: true },
    false,
  ],
  ['a released purchase that is held again is stale', { kind: 'released', isFinal: false }, held, true],
  ['a held purchase that was released is not stale', held, { kind: 'released', isFinal: false }, false],
])('%s', (_, before, now, isOld) => {
  expect(isStale(createPurchase(now), createPurchase(before))).toBe(isOld)
})

test('a purchase is stale once its payer has signed the payment again with a different expiry', () => {
  const released = createPurchase({ kind: 'released', isFinal: false })
  const renewal = { ...released, payment: createTestPayment(1, 1, { validBefore: 600n }) }
  expect(isStale(renewal, released)).toBe(true)
})

test('of two authorizations with the same nonce, the one valid for longer is kept, with the payment-identifier of the first', () => {
  const before = { ...createTestPayment(1, 1, { validBefore: 500n }), identifier: 'order' }
  const longer = createTestPayment(1, 1, { validBefore: 600n })
  expect(keepLongerAuthorization(before, longer)).toEqual({ ...longer, identifier: 'order' })
  expect(keepLongerAuthorization(before, createTestPayment(1, 1, { validBefore: 400n }))).toBe(before)
  expect(() => keepLongerAuthorization(before, createTestPayment(1, 1, { to: toHash(7), validBefore: 600n }))).toThrow(
    StaleWriteError,
  )
})

test('a late payment gets the position that it was for, or else the nearest open one of the same size', () => {
  expect(listLateTargets({ target: 'next', block: at })).toEqual([at, 'next'])
  expect(listLateTargets({ target: '3,4,2x3', block: at })).toEqual(['3,4,2x3', 'next,2x3'])
})
