import { describe, expect, test } from 'bun:test'
import { statusOf, type Failure } from '../../../server/domain/failure.ts'
import * as refusals from '../../../server/domain/purchase/refusals.ts'
import { parseArea } from '../../../shared/area.ts'
import { parseBlockOrThrow, toHash, createTestPayment } from '../../support/samples.ts'

const BLOCK = parseBlockOrThrow('80,45')
const HELD = { target: 'next', block: BLOCK } as const
const AREA = { target: 'next,4x3', block: BLOCK } as const

const formatStatusAndCode = ({ code }: Failure) => `${statusOf[code]} ${code}`

describe('refusals', () => {
  test.each([
    ['next', 'claimed', '410 sold_out'],
    ['next', 'reserved', '409 wall_busy'],
    ['next', 'full', '409 wall_busy'],
    [BLOCK, 'claimed', '409 block_taken'],
    [BLOCK, 'reserved', '409 purchase_pending'],
    [BLOCK, 'full', '409 purchase_pending'],
    ['next,4x3', 'claimed', '410 sold_out'],
    ['next,4x3', 'crowded', '409 no_room'],
    ['next,4x3', 'reserved', '409 wall_busy'],
    ['next,4x3', 'full', '409 wall_busy'],
    ['80,45,4x3', 'claimed', '409 block_taken'],
    ['80,45,4x3', 'reserved', '409 purchase_pending'],
    ['80,45,4x3', 'full', '409 purchase_pending'],
  ] as const)('if the availability of %p is %s, the refusal is %s', (target, space, expected) => {
    expect(formatStatusAndCode(refusals.createUnavailableFailure(target, space))).toBe(expected)
  })

  test('if money may have moved, a refusal says not to pay again, and when to retry', () => {
    for (const refusal of [
      refusals.createSettlementUnknownFailure(HELD),
      refusals.createEarlierUnresolvedFailure(),
      refusals.createNotPersistedFailure(HELD),
    ]) {
      expect(refusal.message).toContain('Do not pay again')
      expect(refusal.details).toMatchObject({ retryAfter: refusals.RETRY_AFTER_SECONDS })
    }
  })

  test('a refusal to a caller who may have paid does not deny a charge, and does not suggest another block', () => {
    for (const target of ['next', BLOCK, 'next,4x3', '80,45,4x3'] as const) {
      const { message, details } = refusals.createUnavailableFailure(target, 'reserved')
      expect(message).toContain('If this is your purchase, send the same request again')
      expect(message).not.toMatch(/nothing was charged|another/i)
      expect(details).toMatchObject({ retryAfter: refusals.RETRY_AFTER_SECONDS })
    }
  })

  test('if no money moved, the refusal says so', () => {
    expect(refusals.createPaymentsBusyFailure()).toMatchObject({
      details: { retryAfter: refusals.RETRY_AFTER_SECONDS },
    })
    expect(refusals.createPaymentsBusyFailure().message).toContain('This request claimed nothing and settled nothing')
    expect(refusals.createPaymentRequiredFailure('too late')).toMatchObject({ details: { reason: 'too late' } })
    expect(refusals.createPaymentRequiredFailure('too late').message).toStartWith('Not charged: too late.')
  })

  test('a refusal contains its block or area, and the refusal for a credit contains the amount, the transaction and the contact', () => {
    expect(refusals.createOtherPurchaseFailure(HELD).details).toEqual({ block: '80,45' })
    expect(refusals.createUnavailableFailure(BLOCK, 'claimed').details).toEqual({ block: '80,45' })
    for (const { details, message } of [
      refusals.createOtherPurchaseFailure(AREA),
      refusals.createBoughtOtherFailure(AREA),
      refusals.createIdentifierUsedFailure(AREA),
    ]) {
      expect(details).toEqual({ area: '80,45,4x3' })
      expect(message).toContain('area 80,45,4x3')
    }
    expect(refusals.createSettlementUnknownFailure(AREA).details).toMatchObject({ area: '80,45,4x3' })
    expect(refusals.createUnavailableFailure('80,45,4x3', 'claimed').details).toEqual({ area: '80,45,4x3' })
    const credit = { kind: 'credited', tx: toHash(1) } as const
    const owed = refusals.createPaymentCreditedFailure(1_000_000n, credit, null)
    expect(owed.details).toEqual({ amount: '1000000', tx: toHash(1), contact: null })
    expect(owed.message).toContain('The operator owes it back to you')
    const { message } = refusals.createPaymentCreditedFailure(1_000_000n, { ...credit, isPaidBack: true }, null)
    expect(message).toContain('has paid it back')
    expect(message).not.toMatch(/owes|do not pay/)
  })
})

test('the refusal of a malformed area shows how to write one', () => {
  const refusal = refusals.createInvalidAreaFailure()
  expect(formatStatusAndCode(refusal)).toBe('400 invalid_area')
  expect(parseArea(/\d+,\d+,\d+x\d+/.exec(refusal.message)?.[0] ?? '')).toBeDefined()
})

test('if a wallet holds too little USDC, the refusal asks the payer to fund it, and states amounts in USDC', () => {
  const reason = 'invalid_exact_evm_insufficient_balance'
  for (const message of [refusals.createPaymentRequiredFailure(reason).message, refusals.describeNotSettled(reason)])
    expect(message).toContain(`the wallet does not hold enough USDC; fund it first (${reason})`)
  const refusal = refusals.createPaymentRequiredFailure(reason)
  const holding = refusals.addBalance(refusal, 400_000n, createTestPayment(1, 1))
  expect(holding.message).toStartWith(
    'Not charged: the wallet holds 0.40 USDC and needs 1.00 USDC on Base; fund it first.',
  )
  expect(holding.details).toEqual({ reason, balance: '400000' })
  const open = { ...refusal, details: { reason, charged: 'unknown' } }
  expect(refusals.addBalance(open, 400_000n, createTestPayment(1, 1)).message).toStartWith(
    'This payment was not settled: the wallet holds 0.40 USDC and needs 1.00 USDC on Base; fund it first. It may still move',
  )
  const credited = refusals.createPaymentCreditedFailure(12_000_000n, { tx: toHash(1) }, null)
  expect([credited.message, credited.details?.['amount']]).toEqual([
    expect.stringContaining('Your payment of 12.00 USDC arrived but bought nothing'),
    '12000000',
  ])
  expect(refusals.createPaymentUnmatchedFailure(1_000_000n, toHash(1), null).message).toContain(
    'This payment of 1.00 USDC',
  )
})
