import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { parsePrice, formatCountWithNoun, formatMoney } from '../../../shared/money.ts'

test('an amount of money is formatted with two decimals, or with more if it is not in whole cents', () => {
  const texts = [0n, 1n, 100n, 10_000n, 25_000n, 1_000_000n, 12_500_000n, 999_999_990_000n].map(formatMoney)
  expect(texts).toEqual(['0.00', '0.000001', '0.0001', '0.01', '0.025', '1.00', '12.50', '999999.99'])
})

test('a formatted price is parsed back to the same amount, and text in a different format is not a price', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 99_999_999n }), (cents) => {
      expect(parsePrice(formatMoney(cents * 10_000n))).toBe(cents * 10_000n)
    }),
  )
  const others = ['', '1', '1.0', '1.000', '0.00', '01.00', '-1.00', '1,00', '1e2', '.50', '$1.00', '1000000.00', 'NaN']
  expect(others.filter((text) => parsePrice(text) !== undefined)).toEqual([])
})

test('the noun is singular after a count of one, and plural after any other count', () => {
  expect([0, 1, 1234].map((count) => formatCountWithNoun(count, 'agent'))).toEqual([
    '0 agents',
    '1 agent',
    '1,234 agents',
  ])
  expect([1, 2].map((count) => formatCountWithNoun(count, 'address', 'addresses'))).toEqual([
    '1 address',
    '2 addresses',
  ])
})
