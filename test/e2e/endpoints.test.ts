import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { WallProcess, WallSettings } from '../../server/local/wall-process.ts'
import type { Receipt } from '../../shared/contract/block.ts'
import { createBlockRangeRule, type OddEndpoint, startOddEndpoint } from '../support/chain/odd-endpoint.ts'
import { fetchBlock, sendUntilSettled, signBlockPayment } from '../support/e2e/buyer.ts'
import { expectBooksToBalance } from '../support/e2e/read-wall.ts'
import { startSurroundings, type Surroundings } from '../support/e2e/world.ts'
import { readBody, createClient, fetchHealth } from '../support/service/client.ts'
import { waitFor } from '../support/wait.ts'

// Goal: a wall sells, finishes open purchases and restarts although one of its two endpoints accepts no calls, and the
// other returns the events of only ten blocks per call. Method: the real process on a real chain behind such endpoints.

let around: Surroundings
let busy: OddEndpoint
let narrow: OddEndpoint
let settings: WallSettings
let wall: WallProcess

beforeAll(async () => {
  around = await startSurroundings()
  busy = startOddEndpoint(around.network.rpcUrl, { '*': () => 'busy' })
  narrow = startOddEndpoint(around.network.rpcUrl, { eth_getLogs: createBlockRangeRule(10) })
  settings = { ...(await around.createFileSettings()), RPC_URL: `${busy.url},${narrow.url}` }
  wall = await around.startArmedWall(settings)
})
afterAll(async () => {
  await wall.stop()
  await Promise.all([busy.stop(), narrow.stop()])
  await around.stop()
})

/** Whether the deed of a purchase says that the payment has settled. */
const isSettled = async (bought: Response) => {
  expect(bought.status).toBe(200)
  const { block } = (await bought.json()) as Receipt
  const deed = await readBody(createClient(wall).blocks({ coord: block }).get())
  return 'settled' in deed && deed.settled
}

test('a sale is confirmed even if one endpoint rate-limits every call and the other one serves event logs of only a few blocks per call', async () => {
  expect(
    await isSettled(await fetchBlock(wall, 'next', await signBlockPayment(wall, await around.createFundedWallet()))),
  ).toBe(true)
})

test('a payment whose settlement response was lost gets its block, even if one endpoint rate-limits every call and the other limits the blocks per log query', async () => {
  const payer = await around.createFundedWallet(5)
  const payment = await signBlockPayment(wall, payer)
  around.facilitator.settle.queueFaults('hang-after')
  expect(await isSettled(await sendUntilSettled(wall, 'next', payment))).toBe(true)
  expect(await around.readBalance(payer)).toBe(4)
})

test('a wall that missed 1,300 blocks of the chain accepts payments again, and finishes its open purchases', async () => {
  const payer = await around.createFundedWallet(5)
  const payment = await signBlockPayment(wall, payer)
  around.facilitator.settle.queueFaults('hang-after')
  const settlesBefore = around.facilitator.settle.countCalls()
  const cutOff = fetchBlock(wall, 'next', payment).catch(() => undefined)
  await around.facilitator.settle.waitForCall(settlesBefore + 1)
  await wall.kill()
  await cutOff
  for (let mined = 0; mined < 1300; mined += 100) await around.network.client.mine({ blocks: 100 })
  wall = await around.startArmedWall(settings)
  expect((await sendUntilSettled(wall, 'next', payment)).status).toBe(200)
  expect(await around.readBalance(payer)).toBe(4)
  await expectBooksToBalance({ ...around, url: wall.url })
})

test('the health report states the limits of each endpoint, and identifies the endpoint only by its host', async () => {
  const railError = await waitFor(async () => {
    const health = await fetchHealth(wall)
    return health.rail === 'armed' ? (health.railError ?? '') : undefined
  })
  const [first, second] = [busy, narrow].map(({ url }) => `the chain endpoint ${new URL(url).host}`)
  expect(railError).toStartWith(`${first} is rate-limiting us (429); ${second} serves event logs of at most `)
})
