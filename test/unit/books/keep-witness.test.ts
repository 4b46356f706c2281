import { expect, test } from 'bun:test'
import { createWitnessKeeper } from '../../../server/books/keep-witness.ts'
import type { StorePosition } from '../../../server/domain/store-position.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import { NOW } from '../../support/samples.ts'

// Goal: the witness never records more than the store holds, and many commits cause few writes.

/** A keeper whose store position and witness disk the test controls. */
function openWorld() {
  const logger = createFakeLogger()
  const world = {
    position: { change: 1, payment: 1, height: 5n, payees: [] },
    isFull: false,
    written: [] as StorePosition[],
  }
  const waits: (() => void)[] = []
  const clock = { ...createFakeClock(NOW), wait: () => new Promise<void>((resolve) => waits.push(resolve)) }
  const keeper = createWitnessKeeper({
    store: { readPosition: async () => world.position },
    witness: {
      read: async () => undefined,
      async write(position) {
        if (world.isFull) throw new Error('no space left')
        world.written.push(position)
      },
    },
    clock,
    logger,
  })
  const commitChange = (change: number) => {
    world.position = { ...world.position, change }
    keeper.onCommit()
  }
  /** Lets the current write reach its next wait, and ends that wait. */
  const endNextWait = async () => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
    waits.shift()?.()
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
  }
  const listChanges = () => world.written.map(({ change }) => change)
  return { world, keeper, logger, commitChange, pass: endNextWait, changes: listChanges }
}

test('the witness is not written before the database counts as current', async () => {
  const { keeper, commitChange, pass, changes } = openWorld()
  commitChange(2)
  await pass()
  await keeper.flush()
  expect(changes()).toEqual([])
  keeper.begin()
  await pass()
  expect(changes()).toEqual([2])
})

test('commits in quick succession cause one write of the witness, which includes the newest commit', async () => {
  const { keeper, commitChange, pass, changes } = openWorld()
  keeper.begin()
  await pass()
  for (const change of [2, 3, 4]) commitChange(change)
  await pass()
  for (const change of [5, 6]) commitChange(change)
  await pass()
  await pass()
  expect(changes()).toEqual([1, 4, 6])
  commitChange(7)
  await keeper.flush()
  expect(changes()).toEqual([1, 4, 6, 7])
})

test('an unchanged witness is not written again', async () => {
  const { keeper, pass, changes } = openWorld()
  keeper.begin()
  await pass()
  await pass()
  keeper.begin()
  await pass()
  await keeper.flush()
  expect(changes()).toEqual([1])
})

test('a witness that cannot be written causes one alert, and is written as soon as that is possible again', async () => {
  const { world, keeper, commitChange, pass, changes, logger } = openWorld()
  world.isFull = true
  keeper.begin()
  for (const change of [2, 3]) {
    commitChange(change)
    await pass()
    await pass()
  }
  expect(logger.alerts.map(({ event }) => event)).toEqual(['witness-failed'])
  world.isFull = false
  commitChange(4)
  await pass()
  expect(changes()).toEqual([4])
})
