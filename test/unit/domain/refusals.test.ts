import { describe, expect, test } from 'bun:test'
import { statusOf, type Failure } from '../../../server/domain/failure.ts'
import * as refusals from '../../../server/domain/purchase/refusals.ts'
import { parseArea } from '../../../shared/area.ts'
import { blockOf, hash, paymentOf } from '../../support/samples.ts'

const BLOCK = blockOf('80,45')
const HELD = { target: 'next', block: BLOCK } as const
const AREA = { target: 'next,4x3', block: BLOCK } as const

const formatStatusAndCode = ({ code }: Failure) => `${statusOf[code]} ${code}`

describe('refusals', () => {
  test.each<[string, Failure]>([
    ['410 sold_out', refusals.unavailability('next', 'claimed')],
    ['409 wall_busy', refusals.unavailability('next', 'reserved')],
    ['409 wall_busy', refusals.unavailability('next', 'full')],
    ['409 block_taken', refusals.unavailability(BLOCK, 'claimed')],
    ['409 purchase_pending', refusals.unavailability(BLOCK, 'reserved')],
    ['409 purchase_pending', refusals.unavailability(BLOCK, 'full')],
    ['410 sold_out', refusals.unavailability('next,4x3', 'claimed')],
    ['409 no_room', refusals.unavailability('next,4x3', 'crowded')],
    ['409 wall_busy', refusals.unavailability('next,4x3', 'reserved')],
    ['409 wall_busy', refusals.unavailability('next,4x3', 'full')],
    ['409 block_taken', refusals.unavailability('80,45,4x3', 'claimed')],
    ['409 purchase_pending', refusals.unavailability('80,45,4x3', 'reserved')],
    ['409 purchase_pending', refusals.unavailability('80,45,4x3', 'full')],
  ])('an unavailable target is refused with %s', (expected, refusal) => {
    expect(formatStatusAndCode(refusal)).toBe(expected)
  })

  test('if money may have moved, a refusal says not to pay again, and when to retry', () => {
    for (const refusal of [
      refusals.settlementUnknown(HELD),
      refusals.earlierUnresolved(),
      refusals.notPersisted(HELD),
    ]) {
      expect(refusal.message).toContain('Do not pay again')
      expect(refusal.details).toMatchObject({ retryAfter: refusals.RETRY_AFTER_SECONDS })
    }
  })

  test('a refusal to a caller who may have paid does not deny a charge, and does not suggest another block', () => {
    for (const target of ['next', BLOCK, 'next,4x3', '80,45,4x3'] as const) {
      const { message, details } = refusals.unavailability(target, 'reserved')
      expect(message).toContain('If this is your purchase, send the same request again')
      expect(message).not.toMatch(/nothing was charged|another/i)
      expect(details).toMatchObject({ retryAfter: refusals.RETRY_AFTER_SECONDS })
    }
  })

  test('if no money moved, the refusal says so', () => {
    expect(refusals.paymentsBusy()).toMatchObject({ details: { retryAfter: refusals.RETRY_AFTER_SECONDS } })
    expect(refusals.paymentsBusy().message).toContain('This request claimed nothing and settled nothing')
    expect(refusals.paymentRequired('too late')).toMatchObject({ details: { reason: 'too late' } })
    expect(refusals.paymentRequired('too late').message).toStartWith('Not charged: too late.')
  })

  test('a refusal names its block or area, and one for a credit names the amount, the transaction and the contact', () => {
    expect(refusals.paymentUsed(HELD).details).toEqual({ block: '80,45' })
    expect(refusals.unavailability(BLOCK, 'claimed').details).toEqual({ block: '80,45' })
    for (const { details, message } of [
      refusals.paymentUsed(AREA),
      refusals.earlierBoughtOther(AREA),
      refusals.identifierUsed(AREA),
    ]) {
      expect(details).toEqual({ area: '80,45,4x3' })
      expect(message).toContain('area 80,45,4x3')
    }
    expect(refusals.settlementUnknown(AREA).details).toMatchObject({ area: '80,45,4x3' })
    expect(refusals.unavailability('80,45,4x3', 'claimed').details).toEqual({ area: '80,45,4x3' })
    const credit = { kind: 'credited', tx: hash(1) } as const
    const owed = refusals.paymentCredited(1_000_000n, credit, null)
    expect(owed.details).toEqual({ amount: '1000000', tx: hash(1), contact: null })
    expect(owed.message).toContain('The operator owes it back to you')
    const { message } = refusals.paymentCredited(1_000_000n, { ...credit, isPaidBack: true }, null)
    expect(message).toContain('has paid it back')
    expect(message).not.toMatch(/owes|do not pay/)
  })
})

test('the refusal of a malformed area shows how to write one', () => {
  const refusal = refusals.invalidArea()
  expect(formatStatusAndCode(refusal)).toBe('400 invalid_area')
  expect(parseArea(/\d+,\d+,\d+x\d+/.exec(refusal.message)?.[0] ?? '')).toBeDefined()
})

test('a refusal asks the owner of an empty wallet to fund it, and states owed money in dollars', () => {
  const reason = 'invalid_exact_evm_insufficient_balance'
  for (const message of [refusals.paymentRequired(reason).message, refusals.notSettled(reason)])
    expect(message).toContain(`the wallet does not hold enough USDC; fund it first (${reason})`)
  const refusal = refusals.paymentRequired(reason)
  const holding = refusals.withBalance(refusal, 400_000n, paymentOf(1, 1))
  expect(holding.message).toStartWith(
    'Not charged: the wallet holds 0.40 USDC and needs 1.00 USDC on Base; fund it first.',
  )
  expect(holding.details).toEqual({ reason, balance: '400000' })
  const open = { ...refusal, details: { reason, charged: 'unknown' } }
  expect(refusals.withBalance(open, 400_000n, paymentOf(1, 1)).message).toStartWith(
    'This payment was not settled: the wallet holds 0.40 USDC and needs 1.00 USDC on Base; fund it first. It may still move',
  )
  const credited = refusals.paymentCredited(12_000_000n, { tx: hash(1) }, null)
  expect([credited.message, credited.details?.['amount']]).toEqual([
    expect.stringContaining('Your payment of 12.00 USDC arrived but bought nothing'),
    '12000000',
  ])
  expect(refusals.paymentUnmatched(1_000_000n, hash(1), null).message).toContain('This payment of 1.00 USDC')
})
