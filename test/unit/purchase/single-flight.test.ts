import { describe, expect, test } from 'bun:test'
import { createSingleFlight } from '../../../server/purchase/single-flight.ts'

/** A piece of work that ends on request, and records its start and end. */
function createWork(name: string, notes: string[]) {
  const end = Promise.withResolvers<string>()
  const started = Promise.withResolvers<void>()
  return {
    started: started.promise,
    finish: () => end.resolve(name),
    fail: () => end.reject(new Error(name)),
    async run() {
      notes.push(`${name} starts`)
      started.resolve()
      try {
        return await end.promise
      } finally {
        notes.push(`${name} ends`)
      }
    },
  }
}

/** Flights, and pieces of work that record their start and end. */
function createWorld() {
  const notes: string[] = []
  const [a, b, c] = [createWork('a', notes), createWork('b', notes), createWork('c', notes)]
  return { flights: createSingleFlight(), notes, a, b, c }
}

describe('runs for one key', () => {
  test('runs for one key are executed one after the other, in the order of the calls', async () => {
    const { flights, notes, a, b, c } = createWorld()
    const all = Promise.all([a, b, c].map(({ run }) => flights.run('key', run)))
    c.finish()
    b.finish()
    await a.started
    expect(notes).toEqual(['a starts'])
    a.finish()
    expect(await all).toEqual(['a', 'b', 'c'])
    expect(notes).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends'])
  })

  test('each run for a key gets its own result, and a failure does not affect the next run', async () => {
    const flights = createSingleFlight()
    const ends = await Promise.allSettled([
      flights.run('key', () => Promise.reject(new Error('first'))),
      flights.run('key', () => Promise.resolve('second')),
      flights.run('key', () => {
        throw new Error('third')
      }),
      flights.run('key', () => Promise.resolve('fourth')),
    ])
    expect(ends.map((end) => (end.status === 'fulfilled' ? end.value : String(end.reason)))).toEqual([
      'Error: first',
      'second',
      'Error: third',
      'fourth',
    ])
  })
})

test('runs for different keys do not wait for each other', async () => {
  const { flights, notes, a, b } = createWorld()
  const slow = flights.run('one', a.run)
  const quick = flights.run('two', b.run)
  b.finish()
  expect(await quick).toBe('b')
  expect(notes).toEqual(['a starts', 'b starts', 'b ends'])
  a.finish()
  expect(await slow).toBe('a')
})

test('a caller that waits until every run has ended also waits for runs that start in the meantime', async () => {
  const { flights, notes, a, b } = createWorld()
  await flights.waitUntilIdle()
  const first = flights.run('one', a.run)
  const idle = flights.waitUntilIdle().then(() => notes.push('idle'))
  const second = flights.run('two', b.run)
  a.fail()
  await expect(first).rejects.toThrow('a')
  b.finish()
  await second
  await idle
  expect(notes.at(-1)).toBe('idle')
})
