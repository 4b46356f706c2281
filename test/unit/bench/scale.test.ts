import { expect, test } from 'bun:test'
import { computePlan } from '../../../bench/scale.ts'

const CROWD = { viewers: 1_000_000, changes: 1, caches: 50, within: 300, gb: 0.1, million: 1 }

const findFigures = (what: string, crowd = CROWD) => computePlan(crowd).find((row) => row.what === what)?.figures ?? {}

test('a million viewers who poll the tail make 250,000 requests per second, and the cost includes traffic and requests', () => {
  const figures = findFigures('follow by polling the tail')
  expect(figures).toMatchObject({ 'requests/s': 250_000, 'GB/s': 3.25, streams: 0 })
  expect(figures['$/hour']).toBeCloseTo(3600 * (0.325 + 0.25))
})

test('a shared stream needs only two streams from the wall for each cache, however many viewers there are', () => {
  for (const viewers of [1000, 1_000_000])
    expect(findFigures('a shared stream', { ...CROWD, viewers })).toMatchObject({ streams: 100 })
  expect(findFigures('a stream each')).toMatchObject({ streams: 1_000_000 })
})

test('a shared stream needs a tenth of the requests of polling the tail, and on a busy wall less than a fifth of the bytes', () => {
  const [shared, tail] = [findFigures('a shared stream'), findFigures('follow by polling the tail')]
  expect(shared['requests/s']).toBe((tail['requests/s'] ?? 0) / 10)
  expect(shared['GB/s']).toBeLessThan((tail['GB/s'] ?? 0) / 5)
})

test('on a wall without changes, followers cost only their requests and heartbeats', () => {
  const quiet = { ...CROWD, changes: 0 }
  expect(findFigures('follow by polling the tail', quiet)['GB/s']).toBeCloseTo(0.1)
  expect(findFigures('a shared stream', quiet)['GB/s']).toBeLessThan(0.03)
})
