import { expect, test } from 'bun:test'
import { isTimely, computeRetentionEnd } from '../../../server/domain/wall/edit.ts'
import { NOW } from '../../support/samples.ts'

test.each([
  [true, 0],
  [true, -300_000],
  [true, 300_000],
  [false, -300_001],
  [false, 300_001],
  [false, NOW / 1000 - NOW],
])('isTimely returns %p for a text signed %d ms from the server time', (expected, ms) => {
  expect(isTimely(NOW + ms, NOW)).toBe(expected)
})

test('a signed change is stored for as long as it would be accepted if it were sent again', () => {
  const lastTimely = NOW + 300_000
  expect(isTimely(NOW, lastTimely)).toBe(true)
  expect(computeRetentionEnd(NOW)).toBeGreaterThan(lastTimely)
})
