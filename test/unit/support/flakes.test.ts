import { expect, test } from 'bun:test'
import { parseRound, renderTable } from '../../endurance/flakes/tally.ts'

const output = `bun test v1.4.5 2x PARALLEL

test/page/a.test.ts:
(pass) the page > opens [12.00ms]
error: expect(received).toBe(expected)
(fail) the page > names a block [1.10s]
  ^ this test timed out after 100ms.
(skip) the page > in Firefox

test/e2e/b.test.ts:
(fail) the page > names a block [3.10ms]

2 tests failed:
(fail) the page > names a block [1.10s]
`

test('the result of a test round lists each failed test once, by file and name', () => {
  expect(parseRound(output, 'failed')).toEqual({
    end: 'failed',
    passed: 1,
    failed: ['test/page/a.test.ts: the page > names a block', 'test/e2e/b.test.ts: the page > names a block'],
  })
})

test('if a test round failed but none of its tests did, the run itself is listed as the failure', () => {
  expect(parseRound('', 'failed').failed).toEqual(['the run itself'])
  for (const end of ['passed', 'cut short'] as const)
    expect(parseRound('(pass) one [1ms]\n', end)).toEqual({ end, passed: 1, failed: [] })
})

test('the table of all test rounds has the most frequent failure first', () => {
  const [a, b] = ['a.test.ts: one', 'b.test.ts: two']
  const rounds = [[a], [b, a], []].map((failed) => ({ end: 'failed', passed: 9, failed }) as const)
  expect(renderTable(rounds)).toBe('failures in 3 whole rounds\n     2  a.test.ts: one\n     1  b.test.ts: two')
})

test('a round that was cut short is not counted as a whole round', () => {
  const round = { end: 'passed', passed: 9, failed: [] } as const
  const cut = { ...round, end: 'cut short' } as const
  expect(renderTable([round])).toBe('nothing failed in 1 whole round')
  expect(renderTable([round, round, cut])).toBe('nothing failed in 2 whole rounds and one cut short')
})
