import { expect, test } from 'bun:test'
import { createGroupCommit } from '../../../db/sqlite/file/group-commit.ts'
import { StoreBroken, StoreUnavailable } from '../../../server/domain/failure.ts'
import { catchFailure } from '../../support/engine.ts'

// Goal: concurrent writers share a commit, and nothing else. Method: a list in memory stands in for the database, and
// loses the changes of a failed transaction.

/** Creates a group commit over a list; `kept` contains the committed list and the number of commits. */
function createStore({
  atCommit = () => {},
  flush = async () => {},
}: { atCommit?: () => void; flush?: () => Promise<void> } = {}) {
  const kept = { rows: [] as string[], commits: 0 }
  const runTransaction = <T>(work: () => T): T => {
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
  return { kept, ...createGroupCommit({ write: runTransaction, soon: setImmediate, flush }) }
}

/** A disk whose flush takes as long as the test wants. */
function createSlowDisk() {
  let flushing = Promise.withResolvers<void>()
  let asking = Promise.withResolvers<void>()
  return {
    flush: () => {
      asking.resolve()
      return flushing.promise
    },
    /** Resolves once a writer waits for the disk. */
    waitForFlush: () => asking.promise,
    finishFlush: () => {
      flushing.resolve()
      flushing = Promise.withResolvers()
      asking = Promise.withResolvers()
    },
    rejectFlush: (error: Error) => flushing.reject(error),
  }
}

test('writers in one turn of the event loop share a commit, and each gets its own result', async () => {
  const { kept, write } = createStore()
  const lengths = await Promise.all(['a', 'b', 'c'].map((row) => write(() => kept.rows.push(row))))
  expect(lengths).toEqual([1, 2, 3])
  expect(kept).toEqual({ rows: ['a', 'b', 'c'], commits: 1 })
})

test('no write is acknowledged before its commit', async () => {
  const { kept, write } = createStore()
  const first = write(() => kept.rows.push('a')).then(() => kept.commits)
  expect(await first).toBe(1)
})

test('a failed write does not affect the other writes in its commit', async () => {
  const { kept, write } = createStore()
  const failWrite = () => {
    kept.rows.push('half')
    throw new StoreUnavailable('damaged')
  }
  const [first, second, third] = await Promise.all([
    write(() => kept.rows.push('a')),
    catchFailure(write(failWrite)),
    write(() => kept.rows.push('b')),
  ])
  expect([first, third]).toEqual([1, 2])
  expect(second).toBeInstanceOf(StoreUnavailable)
  expect(kept.rows).toEqual(['a', 'b'])
})

test('if the disk fails at a commit, the writes in that commit fail, and the commit is not retried', async () => {
  let commits = 0
  const { write } = createStore({
    atCommit: () => {
      commits += 1
      throw new StoreBroken('fsync')
    },
  })
  const failures = await Promise.all(['a', 'b'].map((row) => catchFailure(write(() => row))))
  expect(failures.map((failure) => failure instanceof StoreBroken)).toEqual([true, true])
  expect(commits).toBe(1)
})

test('writers that arrive during a flush share the next commit, and wait until it is flushed', async () => {
  const disk = createSlowDisk()
  const { kept, write } = createStore({ flush: disk.flush })
  const order: string[] = []
  const first = write(() => kept.rows.push('a')).then(() => order.push('a'))
  await disk.waitForFlush()
  const later = ['b', 'c'].map((row) => write(() => kept.rows.push(row)).then(() => order.push(row)))
  await new Promise(setImmediate)
  expect([kept.rows, order]).toEqual([['a'], []])
  disk.finishFlush()
  await first
  await disk.waitForFlush()
  expect([kept.rows, order]).toEqual([['a', 'b', 'c'], ['a']])
  disk.finishFlush()
  await Promise.all(later)
  expect(kept.commits).toBe(2)
})

test('if the disk fails after a commit, both the committed and the waiting writes fail, and nothing is retried', async () => {
  const disk = createSlowDisk()
  const { kept, write } = createStore({ flush: disk.flush })
  const first = catchFailure(write(() => kept.rows.push('a')))
  await disk.waitForFlush()
  const second = catchFailure(write(() => kept.rows.push('b')))
  disk.rejectFlush(new StoreBroken('fsync'))
  expect(await first).toBeInstanceOf(StoreBroken)
  expect(await second).toBeInstanceOf(StoreBroken)
  expect(kept.rows).toEqual(['a'])
})

test('a wait for a flush ends only when all earlier writes are flushed', async () => {
  const disk = createSlowDisk()
  const { kept, write, waitUntilFlushed } = createStore({ flush: disk.flush })
  await waitUntilFlushed()
  const order: string[] = []
  const first = write(() => kept.rows.push('a')).then(() => order.push('written'))
  await disk.waitForFlush()
  const waiting = waitUntilFlushed().then(() => order.push('flushed'))
  await new Promise(setImmediate)
  expect(order).toEqual([])
  disk.finishFlush()
  await Promise.all([first, waiting])
  expect(order).toContain('flushed')
})
