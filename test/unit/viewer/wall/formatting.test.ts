import { expect, test } from 'bun:test'
import { formatSince } from '../../../../viewer/wall/formatting.ts'

const NOW = new Date(2026, 10, 24, 18, 30).getTime()

test.each([
  [new Date(2026, 10, 24, 14, 5), 'since 14:05'],
  [new Date(2026, 10, 23, 9, 0), 'since yesterday'],
  [new Date(2026, 10, 18, 9, 0), 'since Wednesday'],
  [new Date(2026, 10, 17, 9, 0), 'since 17 November'],
  [new Date(2026, 1, 3, 9, 0), 'since 3 February'],
] as const)('the text for a last visit at %p is %p', (moment, text) => {
  expect(formatSince(moment.getTime(), NOW)).toBe(text)
})
