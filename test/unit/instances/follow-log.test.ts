import { describe, expect, test } from 'bun:test'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import type { Change } from '../../../server/domain/wall/log.ts'
import { toCanvasAgents, type WallView } from '../../../server/domain/wall/wall-view.ts'
import { waitForStartUpCheck, followLog, pollLog } from '../../../server/instances/follow-log.ts'
import { compactLog } from '../../support/any-log.ts'
import { catchFailure } from '../../support/engine.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import { parseBlockOrThrow, createIdentityChange, NOBODY, NOW, createTestSale } from '../../support/samples.ts'

const SALE = createTestSale(1, parseBlockOrThrow('80,45'))

const createRename = (number: number) =>
  createIdentityChange(number, { ...NOBODY, name: `name ${number}` }, NOW + number)

/** A log in memory that records how it is read. */
function createLog(changes: Change[]) {
  const reads: { after: number; limit: number }[] = []
  let under = 0
  let underMost = 0
  return {
    changes,
    reads,
    countMostAtOnce: () => underMost,
    async readAfter(after: number, limit: number) {
      reads.push({ after, limit })
      underMost = Math.max(underMost, ++under)
      await Promise.resolve()
      under--
      return changes.filter(({ number }) => number > after).slice(0, limit)
    },
    readCompacted: () => Promise.resolve(compactLog(changes)),
  }
}

const findName = (view: WallView) => toCanvasAgents(view)[0]?.name

describe('the view of a log', () => {
  test('a view is built from the compacted log, and then follows the log', async () => {
    const log = createLog([SALE, createRename(2), createRename(3)])
    const follower = await followLog(log)
    expect([findName(follower.view), follower.view.number]).toEqual(['name 3', 3])
    log.changes.push(createRename(4))
    expect(findName(follower.view)).toBe('name 3')
    await follower.applyNewEntries()
    expect([findName(follower.view), follower.view.number]).toEqual(['name 4', 4])
  })

  test('a view reads the log in pages until its end', async () => {
    const log = createLog([SALE])
    const follower = await followLog(log)
    log.changes.push(...Array.from({ length: 1000 }, (_, i) => createRename(i + 2)))
    await follower.applyNewEntries()
    expect(log.reads).toEqual([
      { after: 1, limit: 500 },
      { after: 501, limit: 500 },
      { after: 1001, limit: 500 },
    ])
    expect(findName(follower.view)).toBe('name 1001')
  })

  test('a view applies each change once, however many callers advance the view at the same time', async () => {
    const log = createLog([SALE])
    const follower = await followLog(log)
    const calls = Array.from({ length: 20 }, async (_, i) => {
      log.changes.push(createRename(i + 2))
      await follower.applyNewEntries()
      expect(follower.view.number).toBeGreaterThanOrEqual(i + 2)
    })
    await Promise.all(calls)
    expect(log.countMostAtOnce()).toBe(1)
    expect(findName(follower.view)).toBe('name 21')
  })

  test('a view recovers from a failed read', async () => {
    const log = createLog([SALE])
    let broken = true
    const follower = await followLog({
      readCompacted: log.readCompacted,
      readAfter: (after, limit) => (broken ? Promise.reject(new Error('no store')) : log.readAfter(after, limit)),
    })
    log.changes.push(createRename(2))
    await expect(follower.applyNewEntries()).rejects.toThrow('no store')
    broken = false
    await follower.applyNewEntries()
    expect(findName(follower.view)).toBe('name 2')
  })

  test('a view stops at a gap in the log, and does not skip it later', async () => {
    const log = createLog([SALE])
    const follower = await followLog(log)
    log.changes.push(createRename(3))
    await expect(follower.applyNewEntries()).rejects.toThrow('the log has a gap before 3')
    await expect(follower.applyNewEntries()).rejects.toThrow('the log has a gap before 3')
    log.changes.splice(1, 0, createRename(2))
    await follower.applyNewEntries()
    expect(findName(follower.view)).toBe('name 3')
  })
})

/** Polls a log until the clock has waited `times` times; the test can send a notification with `ring`. */
function startPolling(times: number, advance: (time: number) => Promise<void>) {
  const logger = createFakeLogger()
  const stop = new AbortController()
  const waits: number[] = []
  let asked = 0
  let ring: (() => void) | undefined
  const clock = {
    now: () => 0,
    elapsed: () => 0,
    async wait(ms: number) {
      waits.push(ms)
      if (waits.length === times) stop.abort()
    },
  }
  const notifier = {
    listen(rung: () => void) {
      ring = rung
      return () => {
        ring = undefined
      }
    },
  }
  const done = pollLog({ notifier, applyNewEntries: () => advance((asked += 1)), clock, logger }, stop.signal)
  return {
    done,
    logger,
    waits,
    asked: () => asked,
    ring: () => ring?.(),
    isListening: () => ring !== undefined,
  }
}

test('a view shows the writes of other processes within a second, whether it is notified or not', async () => {
  const { done, waits, asked } = startPolling(3, async () => {})
  await done
  expect(asked()).toBe(3)
  expect(waits).toEqual([1000, 1000, 1000])
})

test('a notification advances the view immediately, even while an earlier advance is still running', async () => {
  const reading = Promise.withResolvers<void>()
  const { done, ring, asked, isListening } = startPolling(1, (time) =>
    time === 1 ? reading.promise : Promise.resolve(),
  )
  ring()
  expect(asked()).toBe(2)
  reading.resolve()
  await done
  expect(isListening()).toBe(false)
})

test('an outage of the store is reported once, and so is its end', async () => {
  const { done, logger } = startPolling(4, async (time) => {
    if (time < 4) throw new StoreUnavailable('down')
  })
  await done
  expect(logger.notes.map(({ event }) => event)).toEqual(['log-out-of-reach', 'log-followed'])
})

// A view that was built on a damaged store is never used.

/** Creates a build function that returns how often it ran; its first run waits for `ready`. */
function createBuilder(ready: Promise<unknown> = Promise.resolve()) {
  let built = 0
  return async () => {
    built++
    if (built === 1) await ready
    return built
  }
}

test('a view that was built on an undamaged database is kept', async () => {
  expect(await waitForStartUpCheck(Promise.resolve('whole'), createBuilder())).toBe(1)
})

test('after the store was repaired, the view is built again, even if the first build failed', async () => {
  expect(await waitForStartUpCheck(Promise.resolve('repaired'), createBuilder())).toBe(2)
  expect(
    await waitForStartUpCheck(Promise.resolve('repaired'), createBuilder(Promise.reject(new Error('a gap')))),
  ).toBe(2)
})

test('no view is returned before the database has been checked', async () => {
  const looked = Promise.withResolvers<'whole'>()
  let isDone = false
  const building = waitForStartUpCheck(looked.promise, createBuilder()).then(() => (isDone = true))
  await Bun.sleep(0)
  expect(isDone).toBe(false)
  looked.resolve('whole')
  await building
})

test('if the database is rejected, the error says why, even if no view could be built on it either', async () => {
  const refused = Promise.reject(new Error('the database is damaged'))
  for (const ready of [Promise.resolve(), Promise.reject(new Error('a gap'))])
    expect(String(await catchFailure(waitForStartUpCheck(refused, createBuilder(ready))))).toContain(
      'the database is damaged',
    )
})

test('if no view can be built on an undamaged database, the error says why', async () => {
  const building = waitForStartUpCheck(Promise.resolve('whole'), createBuilder(Promise.reject(new Error('a gap'))))
  expect(String(await catchFailure(building))).toContain('a gap')
})
