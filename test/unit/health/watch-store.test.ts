import { expect, test } from 'bun:test'
import { trackOutages } from '../../../server/health/outages.ts'
import { FREE_BYTES_MIN, watchStore } from '../../../server/health/watch-store.ts'
import type { WriteFailure } from '../../../server/ports.ts'
import { fakeClock } from '../../support/fakes/clock.ts'
import { fakeLogger } from '../../support/fakes/logger.ts'
import { NOW } from '../../support/samples.ts'

// Goal: what is wrong with a store has a name, and whoever asks is answered whatever is frozen. Method: a store that says what
// the test wants, or nothing, and a clock on which waiting takes no time.

const never = <T>() => new Promise<T>(() => {})

const PENDING = { held: 1, uncertain: 0, watched: 0, oldestSince: NOW }

/** A store under watch; `undefined` is no answer. */
function world() {
  const says = {
    ready: true as boolean | undefined,
    failure: null as WriteFailure | null | undefined,
    free: FREE_BYTES_MIN * 2,
    asked: 0,
    leaves: false, // cannot be read any more once it is written
  }
  const clock = fakeClock(NOW)
  const logger = fakeLogger()
  const outages = trackOutages({ clock, logger })
  const watch = watchStore({
    store: {
      ready: async () => {
        says.asked += 1
        return says.ready ?? (await never<boolean>())
      },
      tryWrite: async () => {
        if (says.leaves) says.ready = false
        return says.failure === undefined ? await never() : says.failure
      },
    },
    ledgerReader: { pending: async () => PENDING },
    freeBytes: async () => says.free,
    engine: 'postgres',
    hasStandbys: true,
    outages,
    // An answer comes before a wait is over, unless it never comes.
    clock: { ...clock, wait: () => new Promise((resolve) => setTimeout(resolve, 5)) },
  })
  const down = () => outages.all().flatMap(({ kind, state, reason }) => (state === 'down' ? [[kind, reason]] : []))
  return { says, watch, down, logger }
}

test('a store that works is told as such, with what is open in it', async () => {
  const { watch, down, logger } = world()
  await watch.check()
  expect(down()).toEqual([])
  expect(logger.alerts).toEqual([])
  expect(watch.seen()).toEqual({ pending: PENDING, freeBytes: FREE_BYTES_MIN * 2 })
})

test('each way to fail has its name, and one name only', async () => {
  const { says, watch, down } = world()
  const disk = { of: 'store-write', reason: 'the disk is full' } as const
  const standby = { of: 'standby', reason: 'no standby confirms' } as const
  says.failure = disk
  await watch.check()
  expect(down()).toEqual([['store-write', 'the disk is full']])
  says.failure = null
  await watch.check()
  says.failure = standby
  await watch.check()
  expect(down()).toEqual([['standby', 'no standby confirms']])
  says.failure = null
  await watch.check()
  says.ready = false
  says.failure = disk
  await watch.check()
  expect(down()).toEqual([['store-read', 'the database cannot be read']])
})

test.each<[string, WriteFailure | undefined]>([
  ['is not answered', undefined],
  ['fails', { of: 'store-write', reason: 'the connection is lost' }],
])('a store that goes away under a write that %s is one that cannot be read', async (_, failure) => {
  const { says, watch, down } = world()
  says.failure = failure
  says.leaves = true
  await watch.check()
  expect(down()).toEqual([['store-read', 'the database cannot be read']])
})

test('a frozen store is asked no second time, and whoever wants to know is told what was seen last', async () => {
  const { says, watch, down } = world()
  await watch.check()
  says.ready = undefined
  const before = says.asked
  expect(await watch.isReadable()).toBe(true)
  await watch.check()
  expect(down()).toEqual([['store-read', 'the database does not answer in time']])
  expect(await watch.isReadable()).toBe(false)
  expect(says.asked).toBe(before + 1)
})

test('a write that never ends is told as one', async () => {
  const { says, watch, down } = world()
  says.failure = undefined
  await watch.check()
  expect(down()).toEqual([['store-write', 'the database takes no write in time']])
})

test('a disk at its limit is one outage, until there is clearly room', async () => {
  const { says, watch, down, logger } = world()
  for (const free of [0.9, 1.1, 0.9, 1.1]) {
    says.free = FREE_BYTES_MIN * free
    await watch.check()
    expect(down()).toEqual([['disk', 'the disk of the wall’s data is nearly full']])
  }
  says.free = FREE_BYTES_MIN * 2
  await watch.check()
  expect(down()).toEqual([])
  expect(logger.alerts).toHaveLength(1)
})
