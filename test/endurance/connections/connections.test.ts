import { afterAll, beforeAll, expect, test } from 'bun:test'
import { buyBlock } from '../../support/e2e/buyer.ts'
import { startWorld, type World } from '../../support/e2e/world.ts'
import { fares, gather } from './connections.ts'

// Goal: whoever holds connections open and never finishes a request takes nothing from anybody else. Method: a process
// that holds them, and honest clients meanwhile. `bun run endurance connections` does it with ten thousand, and measures.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(async () => {
  await world.stop()
})

test('with 500 half-open connections in the way everyone is answered, and can buy', async () => {
  const wallet = await world.wallet()
  const crowd = await gather(new URL(world.url).host, 500)
  expect((await fares(world.url, 400)).unanswered).toBe(0)
  await buyBlock(world, wallet)
  await crowd.leave()
  expect((await fares(world.url, 40)).unanswered).toBe(0)
})
