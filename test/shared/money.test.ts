import { expect, test } from 'bun:test'
import { parseUnits } from 'viem'
import { PRICE, PRICE_ATOMIC, PRICE_PER_PIXEL } from '../../shared/money.ts'
import { PIXELS_PER_BLOCK } from '../../shared/pixels.ts'

test('a block is one dollar, a million atomic units, a cent a pixel', () => {
  expect({ PRICE, PRICE_ATOMIC, PRICE_PER_PIXEL }).toEqual({
    PRICE: '1.00',
    PRICE_ATOMIC: 1_000_000n,
    PRICE_PER_PIXEL: '0.01',
  })
  expect(parseUnits(PRICE, 6)).toBe(PRICE_ATOMIC)
  expect(parseUnits(PRICE_PER_PIXEL, 6) * BigInt(PIXELS_PER_BLOCK)).toBe(PRICE_ATOMIC)
})
