import { afterAll, beforeAll, expect, test } from 'bun:test'
import { waitUntilArmed } from '../../../server/local/wall-process.ts'
import type { Wallet } from '../../../server/local/wallets.ts'
import type { Receipt } from '../../../shared/contract/block.ts'
import { readBoughtBlocks, callBuyArea, orderArea, signArea } from '../../support/e2e/area-orders.ts'
import { buyBlock, fetchBlock, repaintBlock, sendUntilSettled, signBlockPayment } from '../../support/e2e/buyer.ts'
import { type Cluster, startCluster } from '../../support/e2e/cluster.ts'
import { expectBooksToBalance, readFeed } from '../../support/e2e/read-wall.ts'
import { isBusy, measureMachine } from '../../support/machine.ts'
import { listCoords } from '../../support/samples.ts'
import { readBody, createClient, fetchHealth } from '../../support/service/client.ts'
import { waitFor, sendWhile, waitUntil } from '../../support/wait.ts'

// Goal: any instance sells, repaints and responds, all instances show the same wall, and a killed instance loses
// nobody's dollar. Method: three real processes on one real PostgreSQL, with all requests spread over them.

const CROWD = 64

let wall: Cluster
let crowd: readonly Wallet[]
beforeAll(async () => {
  wall = await startCluster(3, { SETTLE_TIMEOUT_MS: '60000', VERIFY_TIMEOUT_MS: '60000' })
  crowd = await Promise.all(Array.from({ length: CROWD }, () => wall.createFundedWallet()))
}, 60_000)
afterAll(async () => {
  try {
    await waitForEqualCanvases()
    for (const { url } of wall.instances) await expectBooksToBalance({ ...wall, url })
  } finally {
    await wall.stop()
  }
}, 30_000)

const readBalances = async (payers: readonly Wallet[]) => await Promise.all(payers.map(wall.readBalance))

const countEqual = (values: readonly number[], wanted: number) => values.filter((value) => value === wanted).length

/** Returns the whole wall once all instances return the same wall, and that wall contains the given text. */
function waitForEqualCanvases(words = ''): Promise<string> {
  return waitFor(async () => {
    const bodies = await Promise.all(
      wall.instances.map(async ({ url }) => await (await fetch(`${url}/api/canvas`)).text()),
    )
    const [first = '', ...others] = bodies
    return first.includes(words) && others.every((body) => body === first) ? first : undefined
  })
}

/** Sends a signed request to each instance in turn until one returns a final outcome. */
function sendInTurn(payment: string, first = 0): Promise<Response> {
  let turn = first
  return waitFor(async () => {
    const answer = await fetchBlock(wall.getInstance(turn++), 'next', payment).catch(() => undefined)
    return answer === undefined || answer.status === 503 ? undefined : answer
  })
}

/**
 * Sends a signed request to an instance, and then, if the machine is busy and the response has status 503, to the others
 * in turn: on such a machine, a write may exceed a time limit of the database.
 */
async function buyFrom(payment: string, at: number): Promise<Response> {
  const answer = await fetchBlock(wall.getInstance(at), 'next', payment)
  return answer.status === 503 && isBusy(measureMachine()) ? await sendInTurn(payment, at + 1) : answer
}

test('if 64 payers order the same block from three instances, only one becomes its owner, and only one settlement is requested', async () => {
  const payments = await Promise.all(crowd.map((payer, at) => signBlockPayment(wall.getInstance(at), payer, '5,5')))
  const settlesBefore = wall.facilitator.settle.countCalls()
  const answers = await Promise.all(payments.map((payment, at) => fetchBlock(wall.getInstance(at), '5,5', payment)))
  const statuses = answers.map(({ status }) => status)
  expect([countEqual(statuses, 200), countEqual(statuses, 409)]).toEqual([1, CROWD - 1])
  expect(wall.facilitator.settle.countCalls() - settlesBefore).toBe(1)
  const left = await readBalances(crowd)
  expect([countEqual(left, 1), countEqual(left, 2)]).toEqual([1, CROWD - 1])
})

test(
  '64 payers of the next block get a block each, and a feed reader that switches instances sees every sale exactly once',
  async () => {
    const heldBefore = await readBalances(crowd)
    const payments = await Promise.all(crowd.map((payer, at) => signBlockPayment(wall.getInstance(at), payer)))
    const reading = readFeedInTurn(CROWD + 1)
    const answers = await Promise.all(payments.map(buyFrom))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const receipts = await Promise.all(answers.map(async (answer) => (await answer.json()) as Receipt))
    expect(new Set(receipts.map(({ block }) => block)).size).toBe(CROWD)
    expect(await readBalances(crowd)).toEqual(heldBefore.map((dollars) => dollars - 1))
    expect(await reading).toEqual(Array.from({ length: CROWD + 1 }, (_, at) => at + 1))
  },
  { timeout: 120_000 },
)

/**
 * Reads the feed from its beginning, each page from the next instance, until it has this many sales; returns their
 * numbers.
 */
async function readFeedInTurn(sales: number): Promise<readonly number[]> {
  const numbers: number[] = []
  for (let turn = 0, after = 0; numbers.length < sales; turn++) {
    const page = createClient(wall.getInstance(turn)).api.feed.get({ query: { after, limit: 7 } })
    const { sales: next, nextAfter } = await readBody(page)
    numbers.push(...next.map(({ seq }) => seq))
    after = nextAfter
    await Bun.sleep(5)
  }
  return numbers
}

test('one signed request sent to three instances at the same time buys one block, with one charge and one receipt', async () => {
  const payer = await wall.createFundedWallet(5)
  const payment = await signBlockPayment(wall.getInstance(0), payer)
  await wall.network.halt()
  const settlesBefore = wall.facilitator.settle.countCalls()
  const asked = Array.from({ length: 9 }, (_, at) => fetchBlock(wall.getInstance(at), 'next', payment))
  await wall.facilitator.settle.waitForCall(settlesBefore + 1)
  // While the settlement waits for its block, every instance has time to do something else, and to make a mistake.
  for (let at = 0; at < 30; at++) expect((await fetchBlock(wall.getInstance(at), 'next')).status).toBe(402)
  await wall.network.resume()
  const answers = await Promise.all(asked)
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1)
  expect(wall.facilitator.settle.countCalls() - settlesBefore).toBe(1)
  expect(await readBalances([payer])).toEqual([4])
})

// All orders with a position lie around the same block, so that each overlaps others; two orders have only a size.
const OVERLAPPING = [
  { at: '20,60', w: 4, h: 3 },
  { at: '22,61', w: 3, h: 3 },
  { at: '19,59', w: 2, h: 2 },
  { at: '23,62', w: 2, h: 4 },
  { at: '21,62', w: 3, h: 1 },
  { at: '20,60', w: 4, h: 3 },
  { at: '20,60', w: 1, h: 1 },
  { at: '21,60', w: 2, h: 2 },
  { at: '19,62', w: 6, h: 2 },
  { at: '23,60', w: 1, h: 5 },
  { at: 'next', w: 3, h: 2 },
  { at: 'next', w: 2, h: 3 },
]

test('overlapping orders on three instances, over HTTP and MCP, are each filled whole or not at all, and unfilled orders are not charged', async () => {
  const orders = await Promise.all(
    OVERLAPPING.map(async (body, at) => {
      const payer = await wall.createFundedWallet(12)
      return { body, payer, payment: await signArea(wall.getInstance(at), payer, body) }
    }),
  )
  const single = await wall.createFundedWallet()
  const singlePayment = await signBlockPayment(wall.getInstance(0), single, '22,61')
  const settlesBefore = wall.facilitator.settle.countCalls()
  const [block, ...answers] = await Promise.all([
    fetchBlock(wall.getInstance(1), '22,61', singlePayment),
    // Each order is sent twice: to one instance over HTTP, and to another over MCP.
    ...orders.flatMap(({ body, payment }, at) => [
      orderArea(wall.getInstance(at + 1), body, payment),
      callBuyArea(wall.getInstance(at + 2), body, payment),
    ]),
  ])
  const given = await Promise.all(answers.map(readBoughtBlocks))
  const bought = orders.map(({ body, payer }, at) => {
    const [one = [], other = []] = [given[2 * at], given[2 * at + 1]]
    if (one.length > 0 && other.length > 0) expect(one).toEqual(other)
    return { body, payer, blocks: one.length > 0 ? one : other }
  })
  for (const { body, payer, blocks } of bought) {
    expect([0, body.w * body.h]).toContain(blocks.length)
    expect(await readBalances([payer])).toEqual([12 - blocks.length])
  }
  const sold = [...bought.flatMap(({ blocks }) => blocks), ...(block?.status === 200 ? ['22,61'] : [])]
  expect(new Set(sold).size).toBe(sold.length)
  const winners = bought.filter(({ blocks }) => blocks.length > 0).length + (block?.status === 200 ? 1 : 0)
  expect(wall.facilitator.settle.countCalls() - settlesBefore).toBe(winners)
  const feed = await readFeed(wall.getInstance(0))
  const around = new Set(listCoords('19,59,6x7'))
  expect(feed.flatMap(({ coord }) => (around.has(coord) ? [coord] : [])).toSorted()).toEqual(
    sold.filter((coord) => around.has(coord)).toSorted(),
  )
  for (const { blocks } of bought) {
    const first = feed.findIndex(({ coord }) => coord === blocks[0])
    expect(feed.slice(first, first + blocks.length).map(({ coord }) => coord)).toEqual([...blocks])
  }
})

test('every instance returns 304 for a copy of the wall from another instance, and 200 after a repaint', async () => {
  const owner = await wall.createFundedWallet()
  await buyBlock(wall.getInstance(0), owner, '9,9')
  await waitForEqualCanvases('{"i":1449,')
  const held = (await fetch(`${wall.getInstance(0).url}/api/canvas`)).headers.get('etag') ?? ''
  const fetchFromAll = () =>
    Promise.all(
      wall.instances.map(
        async ({ url }) => (await fetch(`${url}/api/canvas`, { headers: { 'if-none-match': held } })).status,
      ),
    )
  expect(await fetchFromAll()).toEqual([304, 304, 304])
  expect((await repaintBlock(wall.getInstance(1), owner, '9,9', 'seen everywhere')).status).toBe(200)
  await waitForEqualCanvases('seen everywhere')
  expect(await fetchFromAll()).toEqual([200, 200, 200])
})

test('a reader of the live stream that reconnects to another instance continues where it stopped', async () => {
  const owner = await wall.createFundedWallet()
  await fetchBlock(wall.getInstance(0), '10,9', await signBlockPayment(wall.getInstance(0), owner, '10,9'))
  const first = await readEvents(wall.getInstance(0).url, 0, (await readFeed(wall.getInstance(0))).length)
  const ids = [...first]
  for (let turn = 1; turn <= 6; turn++) {
    await repaintBlock(wall.getInstance(turn), owner, '10,9', `turn ${turn}`)
    // The next instance may not have read the repaint yet.
    ids.push(...(await readEvents(wall.getInstance(turn + 1).url, ids.at(-1) ?? 0, 1)))
  }
  expect(ids).toEqual(ids.map((_, at) => at + 1))
})

/** Follows the live stream until it has sent this many events; returns their numbers. */
async function readEvents(url: string, last: number, count: number): Promise<readonly number[]> {
  const leaving = new AbortController()
  const stream = await fetch(`${url}/api/live`, {
    headers: { 'last-event-id': String(last) },
    signal: leaving.signal,
  })
  let text = ''
  const decoder = new TextDecoder()
  const listIds = () => [...text.matchAll(/^id: ?(\d+)$/gm)].map(([, id]) => Number(id))
  for await (const chunk of stream.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.endsWith('\n\n') && listIds().length >= count) break
  }
  leaving.abort()
  return listIds()
}

test('while the database is down, reads continue and nothing is charged, and afterwards everything resumes automatically', async () => {
  const owner = await wall.createFundedWallet()
  await fetchBlock(wall.getInstance(0), '12,9', await signBlockPayment(wall.getInstance(0), owner, '12,9'))
  const payers = await Promise.all(wall.instances.map(() => wall.createFundedWallet()))
  const payments = await Promise.all(payers.map((payer, at) => signBlockPayment(wall.getInstance(at), payer)))
  expect((await repaintBlock(wall.getInstance(0), owner, '12,9', 'before')).status).toBe(200)
  const before = await waitForEqualCanvases('"before"')
  const settlesBefore = wall.facilitator.settle.countCalls()
  await wall.server.kill()
  const bystanders = wall.instances.map(async ({ url }, at) => {
    expect(await (await fetch(`${url}/api/canvas`)).text()).toBe(before)
    expect((await fetch(`${url}/api/feed?after=0`)).status).toBe(200)
    expect((await fetch(`${url}/api/agents`)).status).toBe(200)
    const paid = await fetchBlock({ url }, 'next', payments[at])
    expect([paid.status, await paid.json()]).toMatchObject([503, { error: 'database_unavailable' }])
    expect((await repaintBlock({ url }, owner, '12,9', 'lost')).status).toBe(503)
    // Health responds immediately, so it may first report the last known state.
    await waitUntil(async () => !(await fetchHealth({ url })).ok)
  })
  await Promise.all(bystanders)
  expect(wall.facilitator.settle.countCalls()).toBe(settlesBefore)
  expect(await readBalances(payers)).toEqual([2, 2, 2])
  await wall.server.start()
  // After an outage, the database server may be a different one, so each instance checks the chain before it sells
  // again.
  for (const { url } of wall.instances) await waitUntilArmed(url)
  // If an instance notices the outage only at this point, it returns 502 and charges nobody until it has checked the
  // chain.
  for (const [at, payment] of payments.entries()) {
    expect((await sendWhile(502, () => sendUntilSettled(wall.getInstance(at), 'next', payment))).status).toBe(200)
  }
  expect(await readBalances(payers)).toEqual([1, 1, 1])
  for (const { url } of wall.instances) await waitUntil(async () => (await fetchHealth({ url })).ok)
  expect((await repaintBlock(wall.getInstance(1), owner, '12,9', 'after')).status).toBe(200)
  await waitForEqualCanvases('"after"')
})

test('a purchase whose instance was killed during settlement is finished by another instance, with one block and one charge', async () => {
  const payer = await wall.createFundedWallet(5)
  const payment = await signBlockPayment(wall.getInstance(0), payer)
  wall.facilitator.settle.queueFaults('hang-after')
  const arrivals = wall.facilitator.settle.countCalls()
  const cutOff = fetchBlock(wall.getInstance(0), 'next', payment).catch(() => undefined)
  await wall.facilitator.settle.waitForCall(arrivals + 1)
  await wall.instances[0]?.kill()
  await cutOff
  const answer = await sendInTurn(payment, 1)
  expect(answer.status).toBe(200)
  const receipt = await answer.text()
  expect(await readBalances([payer])).toEqual([4])

  // An instance that is started while others run shows what they sold.
  await wall.instances[0]?.start()
  expect(await (await fetchBlock(wall.getInstance(0), 'next', payment)).text()).toBe(receipt)
})

test('if an instance stops under load, no purchase is lost, because the other instances serve its clients', async () => {
  const payers = await Promise.all(Array.from({ length: 24 }, () => wall.createFundedWallet()))
  const payments = await Promise.all(payers.map((payer, at) => signBlockPayment(wall.getInstance(at), payer)))
  const arrivals = wall.facilitator.settle.countCalls()
  const buying = payments.map((payment, at) => sendInTurn(payment, at))
  await wall.facilitator.settle.waitForCall(arrivals + 3)
  await wall.instances[1]?.stop()
  const answers = await Promise.all(buying)
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const receipts = (await Promise.all(answers.map((answer) => answer.json()))) as Receipt[]
  expect(new Set(receipts.map(({ block }) => block)).size).toBe(24)
  expect(new Set(await readBalances(payers))).toEqual(new Set([1]))
  await wall.instances[1]?.start()
})
