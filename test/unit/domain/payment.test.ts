import { describe, expect, test } from 'bun:test'
import {
  toPaymentKey,
  findRejectionReason,
  type Accepted,
  type Payment,
} from '../../../server/domain/purchase/payment.ts'
import { toHash, NOW, createTestPayment, TERMS, createWalletAddress } from '../../support/samples.ts'

const NOW_SECONDS = BigInt(NOW / 1000)
const OTHER = createWalletAddress(99)

const findRejection = (changes: Partial<Payment>, now = NOW) =>
  findRejectionReason(createTestPayment(1, 1, changes), TERMS, now)

describe('payments', () => {
  test('a payment that repeats the terms and is valid for five minutes is accepted', () => {
    expect(findRejection({})).toBeUndefined()
  })

  test.each<[string, string, Partial<Accepted>]>([
    ['scheme', 'accepted names a different scheme or network', { scheme: 'upto' }],
    ['network', 'accepted names a different scheme or network', { network: 'eip155:84532' }],
    ['asset', 'accepted names a different asset', { asset: OTHER }],
    ['payTo', 'the authorization pays a different address', { payTo: OTHER }],
    ['amount (lower)', 'the amount is not exactly 1.00 USDC', { amount: 999_999n }],
    ['amount (higher)', 'the amount is not exactly 1.00 USDC', { amount: 1_000_001n }],
  ])('a payment whose accepted terms differ from the offer in %s is rejected: %s', (_, reason, changes) => {
    expect(findRejection({ accepted: { ...TERMS, scheme: 'exact', ...changes } })).toBe(reason)
  })

  test.each<[string, string, Partial<Payment>]>([
    ['somebody else', 'the authorization pays a different address', { to: OTHER }],
    ['less', 'the amount is not exactly 1.00 USDC', { amount: 1n }],
    ['nothing', 'the amount is not exactly 1.00 USDC', { amount: 0n }],
    ['more', 'the amount is not exactly 1.00 USDC', { amount: 1_000_001n }],
    ['its own payer', 'the payer and the payee are the same address', { payer: TERMS.payTo }],
  ])('a payment that pays %s is rejected: %s', (_, reason, changes) => {
    expect(findRejection(changes)).toBe(reason)
  })

  const late = 'the authorization has expired, or is about to'
  const long = 'the authorization is valid for more than 360 seconds; sign for 300 seconds'
  const early = 'the authorization is not valid yet'
  test.each<[string | undefined, 'validAfter' | 'validBefore', bigint]>([
    [undefined, 'validAfter', 0n],
    [early, 'validAfter', 1n],
    [early, 'validAfter', 600n],
    [late, 'validBefore', -1n],
    [late, 'validBefore', 0n],
    [late, 'validBefore', 9n],
    [undefined, 'validBefore', 10n],
    [undefined, 'validBefore', 360n],
    [long, 'validBefore', 361n],
    [long, 'validBefore', 2n ** 255n],
  ])('the rejection is %p if %s is %d seconds from now', (reason, edge, seconds) => {
    expect(findRejection({ [edge]: NOW_SECONDS + seconds })).toBe(reason)
    expect(findRejection({ [edge]: NOW_SECONDS + seconds }, NOW + 999)).toBe(reason)
  })

  test('a payment is identified by its payer and nonce alone', () => {
    const twin = createTestPayment(1, 1, { signature: '0x12', amount: 5n })
    expect(toPaymentKey(twin)).toBe(toPaymentKey(createTestPayment(1, 1)))
    expect(toPaymentKey(twin)).toBe(`${createWalletAddress(1)}:${toHash(1)}`)
    expect(
      new Set([createTestPayment(1, 1), createTestPayment(1, 2), createTestPayment(2, 1)].map(toPaymentKey)).size,
    ).toBe(3)
  })
})
