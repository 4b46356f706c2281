import { expect, test } from 'bun:test'
import { trackOutages } from '../../../server/health/outages.ts'
import { FREE_BYTES_MIN, watchStore } from '../../../server/health/watch-store.ts'
import type { WriteFailure } from '../../../server/ports.ts'
import { TIMES } from '../../../server/times.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import { NOW } from '../../support/samples.ts'

// Goal: every problem of a store is an outage of its own kind, and callers get a result even if the store hangs.
// Method: a store that returns the result that the test sets, or none, and a clock with very short waits.

const hangForever = <T>() => new Promise<T>(() => {})

const PENDING = { held: 1, uncertain: 0, watched: 0, oldestSince: NOW }

/** A watched store; `says` sets its results, and `undefined` means that it returns no result. */
function createWorld() {
  const says = {
    ready: true as boolean | undefined,
    failure: null as WriteFailure | Promise<WriteFailure> | null | undefined,
    free: FREE_BYTES_MIN * 2,
    asked: 0,
    backedUpAt: undefined as number | undefined | Error,
    leaves: false, // whether the store becomes unreadable during a write
    onWait: (_ms: number) => {},
  }
  const clock = createFakeClock(NOW)
  const logger = createFakeLogger()
  const outages = trackOutages({ clock, logger })
  const watch = watchStore({
    store: {
      isReadable: async () => {
        says.asked += 1
        return says.ready ?? (await hangForever<boolean>())
      },
      tryWrite: async () => {
        if (says.leaves) says.ready = false
        return says.failure === undefined ? await hangForever() : says.failure
      },
    },
    ledgerReader: { countPending: async () => PENDING },
    backups: {
      readLastTime: async () => {
        if (says.backedUpAt instanceof Error) throw says.backedUpAt
        return says.backedUpAt
      },
    },
    readFreeBytes: async () => says.free,
    engine: 'postgres',
    hasStandbys: true,
    outages,
    // If the store returns a result at all, the result arrives before a wait is over.
    clock: {
      ...clock,
      wait(ms) {
        says.onWait(ms)
        return new Promise((resolve) => setTimeout(resolve, 5))
      },
    },
  })
  const listOutages = () =>
    outages.listAll().flatMap(({ kind, state, reason }) => (state === 'down' ? [[kind, reason]] : []))
  /** The outages after a check of the store with these changes. */
  const checkWith = async (now: Partial<typeof says> = {}) => {
    Object.assign(says, now)
    await watch.check()
    return listOutages()
  }
  return { says, watch, seen: checkWith, logger, clock }
}

test('a working database causes no outage, and its open purchases are reported', async () => {
  const { watch, seen, logger } = createWorld()
  expect([await seen(), logger.alerts]).toEqual([[], []])
  expect(watch.readLastState()).toEqual({ pending: PENDING, freeBytes: FREE_BYTES_MIN * 2, backedUpAt: undefined })
})

test('each kind of database failure is reported as one outage of its own kind', async () => {
  const { seen } = createWorld()
  const disk = { of: 'store-write', reason: 'the disk is full' } as const
  const standby = { of: 'standby', reason: 'no standby confirms' } as const
  for (const failure of [disk, standby]) {
    expect(await seen({ failure })).toEqual([[failure.of, failure.reason]])
    expect(await seen({ failure: null })).toEqual([])
  }
  expect(await seen({ ready: false, failure: disk })).toEqual([['store-read', 'the database cannot be read']])
})

test.each<[string, WriteFailure | undefined]>([
  ['never completes', undefined],
  ['fails', { of: 'store-write', reason: 'the connection is lost' }],
])('a database counts as unreadable if it becomes unavailable during a write that %s', async (_, failure) => {
  const { seen } = createWorld()
  expect(await seen({ failure, leaves: true })).toEqual([['store-read', 'the database cannot be read']])
})

test('while a query to a frozen database is open, no other query is sent, and callers get the last known state', async () => {
  const { says, watch, seen } = createWorld()
  await watch.check()
  says.ready = undefined
  const before = says.asked
  expect(await watch.isReadable()).toBe(true)
  expect(await seen()).toEqual([['store-read', 'the database did not respond in time']])
  expect(await watch.isReadable()).toBe(false)
  expect(says.asked).toBe(before + 1)
})

test('a write that never ends is reported as not completed in time', async () => {
  const { seen } = createWorld()
  expect(await seen({ failure: undefined })).toEqual([['store-write', 'the database did not complete a write in time']])
})

test('a write that began during an outage and fails after it is not reported as another outage', async () => {
  const { seen, logger } = createWorld()
  const slow = Promise.withResolvers<WriteFailure>()
  expect(await seen({ failure: slow.promise, leaves: true })).toEqual([['store-read', 'the database cannot be read']])
  // Only a write may take longer than a read, so such a wait shows that the second check waits for the write.
  const onWait = (ms: number) => {
    if (ms > TIMES.storeReadTimeoutMs) slow.resolve({ of: 'store-write', reason: 'the connection is lost' })
  }
  expect(await seen({ ready: true, failure: null, leaves: false, onWait })).toEqual([])
  expect(logger.alerts).toHaveLength(1)
})

test('a nearly full disk counts as one outage until it clearly has space again', async () => {
  const { seen, logger } = createWorld()
  for (const free of [0.9, 1.1, 0.9, 1.1])
    expect(await seen({ free: FREE_BYTES_MIN * free })).toEqual([
      ['disk', 'the disk that holds the wall’s data is nearly full'],
    ])
  expect(await seen({ free: FREE_BYTES_MIN * 2 })).toEqual([])
  expect(logger.alerts).toHaveLength(1)
})

test('three hours without a backup are an outage, whether or not a backup was ever made', async () => {
  const { seen, clock, logger, watch } = createWorld()
  const hours = 3_600_000
  expect([await seen({ backedUpAt: NOW - 4 * hours }), logger.alerts.length]).toEqual([
    [['backup', 'the last backup is from 2027-01-15T04:00:00.000Z']],
    1,
  ])
  expect(await seen({ backedUpAt: NOW })).toEqual([])
  clock.advance(3 * hours + 1)
  expect(await seen({ backedUpAt: NOW + hours })).toEqual([])
  expect(await seen({ backedUpAt: undefined })).toEqual([
    ['backup', 'no backup was ever made; see “WallBackupMissing” in OPERATING.md'],
  ])
  expect(watch.readLastState().backedUpAt).toBeUndefined()
})

test('if the record of backups cannot be read, the last known backup time is kept', async () => {
  const { seen, watch } = createWorld()
  await seen({ backedUpAt: NOW })
  expect(await seen({ backedUpAt: new Error('away') })).toEqual([])
  expect(watch.readLastState().backedUpAt).toBe(NOW)
})
