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
  expect(parseRound(output, false)).toEqual({
    passed: 1,
    failed: ['test/page/a.test.ts: the page > names a block', 'test/e2e/b.test.ts: the page > names a block'],
  })
})

test('if a test round failed but none of its tests did, the run itself is listed as the failure', () => {
  expect(parseRound('', false)).toEqual({ passed: 0, failed: ['the run itself'] })
  expect(parseRound('(pass) one [1ms]\n', true)).toEqual({ passed: 1, failed: [] })
})

test('the table of all test rounds has the most frequent failure first', () => {
  const [a, b] = ['a.test.ts: one', 'b.test.ts: two']
  const rounds = [[a], [b, a], []].map((failed) => ({ passed: 9, failed }))
  expect(renderTable(rounds)).toBe('failures in 3 rounds\n     2  a.test.ts: one\n     1  b.test.ts: two')
  expect(renderTable([{ passed: 9, failed: [] }])).toBe('nothing failed in 1 rounds')
})
