import { expect, test } from 'bun:test'
import { sparing, together } from '../../db/sqlite/together.ts'
import { StoreBroken, StoreUnavailable } from '../../server/domain/failure.ts'
import { failureOf } from '../ports/engine.ts'

// Goal: writers that come together share a commit, and nothing else. Method: a store that keeps a list, and loses what a
// failed transaction did.

/** A store, what is committed in it, and how often it was. */
function store(atCommit: () => void = () => {}) {
  const kept = { rows: [] as string[], commits: 0 }
  const write = <T>(work: () => T): T => {
    const before = [...kept.rows]
    try {
      const result = work()
      atCommit()
      kept.commits += 1
      return result
    } catch (error) {
      kept.rows = before
      throw error
    }
  }
  return { kept, write: together(write, setImmediate) }
}

test('those who write in one turn wait for one commit, and each gets its own answer', async () => {
  const { kept, write } = store()
  const lengths = await Promise.all(['a', 'b', 'c'].map((row) => write(() => kept.rows.push(row))))
  expect(lengths).toEqual([1, 2, 3])
  expect(kept).toEqual({ rows: ['a', 'b', 'c'], commits: 1 })
})

test('nobody is answered before the commit', async () => {
  const { kept, write } = store()
  const first = write(() => kept.rows.push('a')).then(() => kept.commits)
  expect(await first).toBe(1)
})

test('one that fails takes nobody with it', async () => {
  const { kept, write } = store()
  const fails = () => {
    kept.rows.push('half')
    throw new StoreUnavailable('damaged')
  }
  const [first, second, third] = await Promise.all([
    write(() => kept.rows.push('a')),
    failureOf(write(fails)),
    write(() => kept.rows.push('b')),
  ])
  expect([first, third]).toEqual([1, 2])
  expect(second).toBeInstanceOf(StoreUnavailable)
  expect(kept.rows).toEqual(['a', 'b'])
})

test('after a disk that broke nothing is tried again', async () => {
  let commits = 0
  const { write } = store(() => {
    commits += 1
    throw new StoreBroken('fsync')
  })
  const failures = await Promise.all(['a', 'b'].map((row) => failureOf(write(() => row))))
  expect(failures.map((failure) => failure instanceof StoreBroken)).toEqual([true, true])
  expect(commits).toBe(1)
})

test('after work that took long, others are heard before there is more of it', async () => {
  const soon = sparing()
  const written = (takes: () => void) =>
    new Promise<void>((resolve) =>
      soon(() => {
        takes()
        resolve()
      }),
    )
  await written(() => Bun.sleepSync(20))
  let heard = 0
  let more = true
  const listen = () => {
    heard += 1
    if (more) setImmediate(listen)
  }
  setImmediate(listen)
  await written(() => {})
  more = false
  expect(heard).toBeGreaterThan(10)
})
