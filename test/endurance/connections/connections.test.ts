import { expect, test } from 'bun:test'
import { buyBlock } from '../../support/e2e/buyer.ts'
import { shareWorld, type World } from '../../support/e2e/world.ts'
import { IS_LONG_RUN } from '../../support/long-run.ts'
import { openCrowd, countUnanswered } from './connections.ts'

// Goal: clients that hold connections open and never finish a request do not keep others from being served. Method: a
// process that holds such connections, and honest clients meanwhile. In a long run it holds ten thousand connections,
// and reopens those that the wall closes.

const CROWD = IS_LONG_RUN ? 10_000 : 500
const REQUESTS = IS_LONG_RUN ? 2000 : 400
// Bun closes connections without a complete header after 12 s.
const STAYS_MS = IS_LONG_RUN ? 15_000 : 0

let world: World
shareWorld((opened) => void (world = opened))

test(`while ${CROWD} connections never finish a request, all requests of other clients get responses, and blocks can be bought`, async () => {
  const wallet = await world.createFundedWallet()
  const leave = await openCrowd(new URL(world.url).host, CROWD)
  expect(await countUnanswered(world.url, REQUESTS)).toBe(0)
  await buyBlock(world, wallet)
  await Bun.sleep(STAYS_MS)
  expect(await countUnanswered(world.url, REQUESTS)).toBe(0)
  await leave()
  expect(await countUnanswered(world.url, 40)).toBe(0)
})
