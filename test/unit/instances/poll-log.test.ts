import { expect, test } from 'bun:test'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import { pollLog } from '../../../server/instances/follow-log.ts'
import { fakeLogger } from '../../support/fakes/logger.ts'

/** A view that is asked to advance `times` times by the poll, which is notified by hand. */
function world(times: number, advance: (time: number) => Promise<void>) {
  const logger = fakeLogger()
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
  const done = pollLog({ notifier, advance: () => advance((asked += 1)), clock, logger }, stop.signal)
  return { done, logger, waits, asked: () => asked, ring: () => ring?.(), isHeard: () => ring !== undefined }
}

test('a view is level with what others write within a second, whether it is notified or not', async () => {
  const { done, waits, asked } = world(3, async () => {})
  await done
  expect(asked()).toBe(3)
  expect(waits).toEqual([1000, 1000, 1000])
})

test('a notification is followed at once, for as long as the view is kept level', async () => {
  const reading = Promise.withResolvers<void>()
  const { done, ring, asked, isHeard } = world(1, (time) => (time === 1 ? reading.promise : Promise.resolve()))
  ring()
  expect(asked()).toBe(2)
  reading.resolve()
  await done
  expect(isHeard()).toBe(false)
})

test('a store that is away is told of once, and so is its coming back', async () => {
  const { done, logger } = world(4, async (time) => {
    if (time < 4) throw new StoreUnavailable('down')
  })
  await done
  expect(logger.notes.map(({ event }) => event)).toEqual(['log-out-of-reach', 'log-followed'])
})
