import { describe, expect, test } from 'bun:test'
import { keyOf, unfitness, type Accepted, type Payment } from '../../../server/domain/purchase/payment.ts'
import { hash, NOW, paymentOf, TERMS, wallet } from '../../support/samples.ts'

const NOW_SECONDS = BigInt(NOW / 1000)
const OTHER = wallet(99)

const fitness = (changes: Partial<Payment>, now = NOW) => unfitness(paymentOf(1, 1, changes), TERMS, now)

describe('a payment', () => {
  test('that repeats the terms and is valid for five minutes can be taken', () => {
    expect(fitness({})).toBeUndefined()
  })

  test.each<[string, string, Partial<Accepted>]>([
    ['scheme', 'accepted: another scheme or network', { scheme: 'upto' }],
    ['network', 'accepted: another scheme or network', { network: 'eip155:84532' }],
    ['asset', 'accepted: another asset', { asset: OTHER }],
    ['payTo', 'the authorization pays another address', { payTo: OTHER }],
    ['lower amount', 'the amount is not exactly 1000000', { amount: 999_999n }],
    ['higher amount', 'the amount is not exactly 1000000', { amount: 1_000_001n }],
  ])('that accepted another %s is unfit: %s', (_, reason, changes) => {
    expect(fitness({ accepted: { ...TERMS, scheme: 'exact', ...changes } })).toBe(reason)
  })

  test.each<[string, string, Partial<Payment>]>([
    ['somebody else', 'the authorization pays another address', { to: OTHER }],
    ['less', 'the amount is not exactly 1000000', { amount: 1n }],
    ['nothing', 'the amount is not exactly 1000000', { amount: 0n }],
    ['more', 'the amount is not exactly 1000000', { amount: 1_000_001n }],
    ['its own payer', 'the payer is the address to be paid', { payer: TERMS.payTo }],
  ])('that pays %s is unfit: %s', (_, reason, changes) => {
    expect(fitness(changes)).toBe(reason)
  })

  const late = 'the authorization has expired, or is about to'
  const long = 'the authorization is valid for more than 360 seconds; sign for 300'
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
  ])('is judged %p with %s %d seconds from now', (reason, edge, seconds) => {
    expect(fitness({ [edge]: NOW_SECONDS + seconds })).toBe(reason)
    expect(fitness({ [edge]: NOW_SECONDS + seconds }, NOW + 999)).toBe(reason)
  })

  test('is known by its payer and nonce alone', () => {
    const twin = paymentOf(1, 1, { signature: '0x12', amount: 5n })
    expect(keyOf(twin)).toBe(keyOf(paymentOf(1, 1)))
    expect(keyOf(twin)).toBe(`${wallet(1)}:${hash(1)}`)
    expect(new Set([paymentOf(1, 1), paymentOf(1, 2), paymentOf(2, 1)].map(keyOf)).size).toBe(3)
  })
})
