import { afterAll, beforeAll, expect, test } from 'bun:test'
import { BEHIND_MAX } from '../../../server/http/live.ts'
import { BUDGETS } from '../../../server/wall/rate-limits.ts'
import { FLOOD_NAMES, type FloodName } from './floods.ts'
import { blocksOf, openScene, type Effect, type Scene } from './scene.ts'

// Goal: whoever floods the wall takes nothing from anybody else. Method: each flood of `bun run abuse` for a moment, from one
// address and from many. What is counted is counted here; how long others wait is measured by the command alone.

const MS = 400

// After that the test itself is given up.
const LONGEST_SECONDS = 30
// Of the one buyer: a block, and an area of two.
const PURCHASES = 2
const SOLD_MEANWHILE = 3

// The wall asks whether the facilitator works once a minute.
const PROBES_MAX = 2

let scene: Scene
beforeAll(async () => {
  scene = await openScene(2 * BEHIND_MAX, 2 * FLOOD_NAMES.length * blocksOf(1))
})
afterAll(async () => {
  await scene.stop()
})

const flood = (name: FloodName, addresses: number) =>
  scene.flood(name, { ms: MS, addresses, connectionsMax: 16, buyers: 1 })

/** What holds under every flood. */
function expectOthersServed({ bought, painted, rails, statuses }: Effect): void {
  expect({ bought, painted }).toEqual({ bought: 1, painted: 1 })
  expect(rails).toEqual(['armed'])
  expect(Object.keys(statuses).filter((status) => status.startsWith('5') && status !== '503')).toEqual([])
}

test.each(FLOOD_NAMES)('a flood of %s from 200 addresses: the wall sells, and nothing of it fails', async (name) => {
  expectOthersServed(await flood(name, 200))
})

test('a block that is repainted as fast as one can makes the log grow by no more than its budget', async () => {
  const { logGrew } = await flood('repaints', 1)
  const { burst, perSecond } = BUDGETS.repaints
  expect(logGrew - SOLD_MEANWHILE).toBeLessThanOrEqual(burst + LONGEST_SECONDS * perSecond)
})

test('the facilitator is never asked about payments that nobody signed', async () => {
  const { verified } = await flood('junk payments', 200)
  expect(verified).toBeLessThanOrEqual(PURCHASES + PROBES_MAX)
})

test('readers who come from the beginning of a long log are told to read the canvas, each of them', async () => {
  const { statuses, resets } = await flood('live from 0', 200)
  expect(statuses).toEqual({ 200: resets })
  expect(resets).toBeGreaterThan(0)
})
