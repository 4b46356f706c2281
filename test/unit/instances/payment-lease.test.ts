import { drainMicrotasks } from 'bun:jsc'
import { describe, expect, test } from 'bun:test'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import { createPaymentLease, type PaymentLease } from '../../../server/instances/payment-lease.ts'
import type { Clock, Leases } from '../../../server/ports.ts'
import { createFakeLeases } from '../../support/fakes/leases.ts'
import { createTestPayment } from '../../support/samples.ts'
import { createScheduler } from '../../support/scheduler.ts'

// Goal: runs for one payment in two live processes do not overlap, and a run does not wait long for a crashed process.
// Method: a clock that the test moves; the notes record the order of events.

const KEY = createTestPayment(1, 1)

function createWorld() {
  const scheduler = createScheduler()
  const leases = createFakeLeases(scheduler.getElapsed)
  const notes: string[] = []
  const createProcessLease = (port: (own: Leases) => Leases = (own) => own): PaymentLease => {
    const owner = {}
    const clock: Clock = {
      now: scheduler.getElapsed,
      elapsed: scheduler.getElapsed,
      wait: (ms, signal) => scheduler.wait(owner, ms, signal),
    }
    return createPaymentLease(port(leases.createLeases(owner)), clock)
  }
  const passTime = (ms: number) => {
    drainMicrotasks()
    scheduler.advance(ms)
    drainMicrotasks()
  }
  const createRecorder = (note: string) => async () => void notes.push(note)
  return { leases, process: createProcessLease, passTime, notes, createRecorder }
}

const isOver = async () => false
const onShared = () => {}

/** Work that runs until the test calls `end`. */
function createLongWork() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { run: () => promise, end: resolve }
}

describe('a payment that another process works on', () => {
  test('a request for a payment that another process works on waits for that process, and runs afterwards', async () => {
    const { process, passTime, notes, createRecorder } = createWorld()
    const [here, there] = [process(), process()]
    const long = createLongWork()
    const first = here.runWhenFree(KEY, { isOver, work: long.run, giveUp: createRecorder('late'), onShared })
    const second = there.runWhenFree(KEY, {
      isOver,
      work: createRecorder('ran'),
      giveUp: createRecorder('late'),
      onShared,
    })
    passTime(50_000)
    expect(notes).toEqual([])
    long.end()
    await first
    passTime(1000)
    await second
    expect(notes).toEqual(['ran'])
  })

  test('a request that waits too long for another process gets the response that the payment is in progress', async () => {
    const { process, passTime, notes, createRecorder } = createWorld()
    const long = createLongWork()
    const first = process().runWhenFree(KEY, { isOver, work: long.run, giveUp: createRecorder('late'), onShared })
    const second = process().runWhenFree(KEY, {
      isOver,
      work: createRecorder('ran'),
      giveUp: createRecorder('late'),
      onShared,
    })
    for (let seconds = 0; seconds < 62; seconds += 1) passTime(1000)
    await second
    expect(notes).toEqual(['late'])
    long.end()
    await first
  })

  test('the sweep skips a payment that another process works on', async () => {
    const { process, notes, createRecorder } = createWorld()
    const [here, there] = [process(), process()]
    const long = createLongWork()
    const first = here.runWhenFree(KEY, { isOver, work: long.run, giveUp: createRecorder('late'), onShared })
    drainMicrotasks()
    expect(await there.runUnlessTaken(KEY, createRecorder('swept'))).toBe('elsewhere')
    long.end()
    await first
    drainMicrotasks()
    await there.runUnlessTaken(KEY, createRecorder('swept'))
    expect(notes).toEqual(['swept'])
  })
})

test('a finished payment is answered immediately, even if a crashed process still has its lease', async () => {
  const { process, notes, createRecorder } = createWorld()
  void process().runWhenFree(KEY, { isOver, work: createLongWork().run, giveUp: createRecorder('late'), onShared })
  await process().runWhenFree(KEY, {
    isOver: async () => true,
    work: createRecorder('ran'),
    giveUp: createRecorder('late'),
    onShared,
  })
  expect(notes).toEqual(['ran'])
})

test('the payment of a crashed process is resumed once its lease has ended', async () => {
  const { process, passTime, notes, createRecorder } = createWorld()
  const dead = process(({ take, release, isTaken }) => {
    let times = 0
    return { release, isTaken, take: (key, forMs) => (times++ === 0 ? take(key, forMs) : new Promise(() => {})) }
  })
  void dead.runWhenFree(KEY, { isOver, work: createLongWork().run, giveUp: createRecorder('late'), onShared })
  const second = process().runWhenFree(KEY, {
    isOver,
    work: createRecorder('ran'),
    giveUp: createRecorder('late'),
    onShared,
  })
  passTime(14_000)
  expect(notes).toEqual([])
  passTime(2000)
  await second
  expect(notes).toEqual(['ran'])
})

test('if leases cannot be read, a request still runs, but the sweep fails', async () => {
  const { process, notes, createRecorder } = createWorld()
  const failStore = () => Promise.reject(new StoreUnavailable('down'))
  const apart = process(() => ({ take: failStore, release: failStore, isTaken: failStore }))
  await apart.runWhenFree(KEY, { isOver, work: createRecorder('ran'), giveUp: createRecorder('late'), onShared })
  expect(notes).toEqual(['ran'])
  expect(apart.runUnlessTaken(KEY, createRecorder('swept'))).rejects.toBeInstanceOf(StoreUnavailable)
})

test('a run knows whether its process still has the lease', async () => {
  const { process, passTime, leases } = createWorld()
  const [here, there] = [process(), process()]
  const long = createLongWork()
  const running = here.runWhenFree(KEY, { isOver, work: long.run, giveUp: long.run, onShared })
  passTime(50_000)
  expect(await here.renewIfKept(KEY)).toBe(true)
  leases.endLease(KEY)
  await there.runUnlessTaken(KEY, async () => {})
  expect(await here.renewIfKept(KEY)).toBe(false)
  long.end()
  await running
})

test('a run is notified if another process had the lease of the payment before, during or at the end of the run', async () => {
  const { process, passTime, leases, notes } = createWorld()
  const renewing = Promise.withResolvers<void>()
  let isSlow = false
  const there = process()
  const here = process(({ take, release, isTaken }) => ({
    release,
    isTaken,
    take: async (key, forMs) => {
      const taken = await take(key, forMs)
      if (isSlow) await renewing.promise
      return taken
    },
  }))
  const runAtOtherProcess = async () => {
    leases.endLease(KEY)
    await there.runUnlessTaken(KEY, async () => {})
  }
  const runWork = (work: () => Promise<void>) =>
    here.runWhenFree(KEY, { isOver, work, giveUp: work, onShared: () => void notes.push('shared') })

  await runWork(async () => void notes.push('ran first'))
  await runAtOtherProcess()
  await runWork(async () => void notes.push('ran after another process'))

  const [during, after] = [createLongWork(), createLongWork()]
  const lost = runWork(during.run)
  drainMicrotasks()
  await runAtOtherProcess()
  passTime(10_000)
  notes.push('lost it meanwhile')
  during.end()
  await lost

  const ended = runWork(after.run)
  drainMicrotasks()
  await runAtOtherProcess()
  isSlow = true
  passTime(10_000)
  after.end()
  await ended
  notes.push('ended during a renewal')
  renewing.resolve()
  drainMicrotasks()
  expect(notes).toEqual([
    'ran first',
    'shared',
    'ran after another process',
    'shared',
    'lost it meanwhile',
    'ended during a renewal',
    'shared',
  ])
})

test('a lease counts as lost if its renewal is confirmed too late, or if the store is unavailable', async () => {
  const { process, passTime } = createWorld()
  const answering = Promise.withResolvers<void>()
  const slow = process(({ take, release, isTaken }) => ({
    release,
    isTaken,
    take: async (key, forMs) => {
      const taken = await take(key, forMs)
      await answering.promise
      return taken
    },
  }))
  const isKept = slow.renewIfKept(KEY)
  passTime(120_000)
  answering.resolve()
  expect(await isKept).toBe(false)
  const failStore = () => Promise.reject(new StoreUnavailable('down'))
  const apart = process(() => ({ take: failStore, release: failStore, isTaken: failStore }))
  expect(await apart.renewIfKept(KEY)).toBe(false)
})

test('a response does not wait for the release of its lease, but the next run for the payment in the same process does', async () => {
  const { process, notes, createRecorder } = createWorld()
  const giving = Promise.withResolvers<void>()
  const apart = process(({ take, release, isTaken }) => ({
    take,
    isTaken,
    release: (key) => giving.promise.then(() => release(key)),
  }))
  await apart.runWhenFree(KEY, { isOver, work: createRecorder('first'), giveUp: createRecorder('late'), onShared })
  const second = apart.runWhenFree(KEY, {
    isOver,
    work: createRecorder('second'),
    giveUp: createRecorder('late'),
    onShared,
  })
  drainMicrotasks()
  expect(notes).toEqual(['first'])
  giving.resolve()
  await second
  expect(notes).toEqual(['first', 'second'])
})
