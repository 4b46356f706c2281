import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { findFreePort, type WallProcess } from '../../server/local/wall-process.ts'
import type { Receipt } from '../../shared/contract/block.ts'
import { type FaultyFacilitator, startFaultyFacilitator } from '../support/chain/faulty-facilitator.ts'
import { fetchBlock, signBlockPayment } from '../support/e2e/buyer.ts'
import { expectBooksToBalance } from '../support/e2e/read-wall.ts'
import { startSurroundings, type Surroundings } from '../support/e2e/world.ts'
import { fetchHealth } from '../support/service/client.ts'

// Goal: while the second of two facilitators works, every buyer gets a block for a dollar, whatever the first one does.
// Method: the real process and a real chain; both facilitators broadcast to it, and the first one misbehaves.

let around: Surroundings
let second: FaultyFacilitator
let wall: WallProcess

beforeAll(async () => {
  around = await startSurroundings({ SETTLE_TIMEOUT_MS: '4000' })
  second = await startFaultyFacilitator(around.network.callFacilitator)
  await openWall()
})

/** Starts a new wall. Each group of tests needs one, because a wall prefers facilitators that have not failed. */
async function openWall(first = around.facilitator.url) {
  const facilitators = `${first}, ${second.url.replace('//', '//name:password@')}`
  wall = await around.startArmedWall({ FACILITATOR_URL: facilitators, DATABASE_PATH: around.databasePath })
}

async function reopenWall(first?: string) {
  await wall.stop()
  await openWall(first)
}

afterAll(async () => {
  try {
    await expectBooksToBalance({ ...around, url: wall.url })
  } finally {
    await wall.stop()
    await second.stop()
    await around.stop()
  }
})

/** Buys with one signed request that is sent once, and checks the payment. */
async function expectImmediatePurchase(what: string) {
  const payer = await around.createFundedWallet(5)
  const answer = await fetchBlock(wall, 'next', await signBlockPayment(wall, payer))
  expect([what, answer.status]).toEqual([what, 200])
  const { deed } = (await answer.json()) as Receipt
  expect(await around.network.client.getTransactionReceipt({ hash: deed.tx as `0x${string}` })).toMatchObject({
    status: 'success',
  })
  expect(await around.readBalance(payer)).toBe(4)
}

// One fault per kind of response. The tests of the adapter cover how other faults are classified; the tests of the ring
// cover the reactions.
const faults: readonly (readonly [
  what: string,
  call: 'settle' | 'verify',
  setAnswer: (first: FaultyFacilitator) => void,
])[] = [
  ['at settlement (hang-after)', 'settle', ({ settle }) => settle.setDefault('hang-after')],
  ['at settlement (refused-recipient)', 'settle', ({ settle }) => settle.setDefault('refused-recipient')],
  ['at verification (hang)', 'verify', ({ verify }) => verify.setDefault('hang')],
]

describe('a first facilitator that fails', () => {
  test.each(faults)(
    'if the first facilitator fails %s, a request that is sent once still buys its block with one charge',
    async (what, call, setAnswer) => {
      await reopenWall()
      const asked = around.facilitator[call].countCalls()
      setAnswer(around.facilitator)
      await expectImmediatePurchase(what)
      expect(around.facilitator[call].countCalls()).toBeGreaterThan(asked)
      around.facilitator[call].setDefault('honest')
    },
  )

  test('if the first facilitator is down, the wall starts and sells, and its health report names that facilitator', async () => {
    const gone = `http://127.0.0.1:${await findFreePort()}`
    await reopenWall(gone)
    await expectImmediatePurchase('nobody listens')
    expect(await fetchHealth(wall)).toMatchObject({
      rail: 'armed',
      railError: `the facilitator at ${new URL(gone).host} cannot be reached`,
    })
    expect(JSON.stringify(await fetchHealth(wall))).not.toContain('password')
    await reopenWall()
  })
})

test('if a facilitator cannot read a payment with extensions, the facilitator gets the payment again without extensions', async () => {
  await reopenWall()
  const settles = second.settle.countCalls()
  around.facilitator.verify.queueFaults('unreadable')
  around.facilitator.settle.queueFaults('unreadable-before')
  await expectImmediatePurchase('unreadable once')
  expect(second.settle.countCalls()).toBe(settles)
  const { paymentPayload } = JSON.parse(around.facilitator.settle.listBodies().at(-1) ?? '{}')
  expect(Object.keys(paymentPayload)).toEqual(['x402Version', 'accepted', 'payload'])
})
