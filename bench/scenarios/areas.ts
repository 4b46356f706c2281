/**
 * Areas: the cost of buying 400 blocks in one payment, compared with one block; the effect of such purchases on other
 * requests; and the cost of a search for space.
 */

import { waitUntilArmed } from '../../server/local/wall-process.ts'
import type { Scenario } from '../findings.ts'
import { measureCpuMs } from '../measure/cpu.ts'
import { runLoad, encodeRequest } from '../measure/load.ts'
import { computeMedian, computePercentile } from '../measure/pair.ts'
import type { Server } from '../servers/servers.ts'
import { startStubServices } from '../servers/stub-services.ts'
import { signTerms } from './purchases.ts'

const SIDE = 20

// Blocks are sold from the centre outwards. Once this many are sold, only corners are left, without space for an area
// of 400 blocks.
const NEARLY_FULL = 13_900
const SOLD = 1000

// Work that a process does for the first time does not count.
const WARM_UP_BLOCKS = 40
const WARM_UP_AREAS = 3
const LANDINGS = 6

// How long to wait before a purchase, so that its cost does not include publishing the previous purchase.
const PUBLISHED_AFTER_MS = 1050

/**
 * Compares an area of 400 blocks with one block, and measures orders for the nearest open area on a wall without space.
 */
export const measureAreas: Scenario = async (servers, { rounds, ms }) => {
  const stubs = startStubServices()
  try {
    const wall = await servers.getWall(SOLD, 'areas', stubs.settings)
    const full = await servers.getWall(NEARLY_FULL, 'nearly-full', stubs.settings)
    await Promise.all([wall, full].map(({ port }) => waitUntilArmed(`http://127.0.0.1:${port}`)))
    const image = await fetchPicture(wall)
    const free = [...PLACES]
    const takeNextArea = (picture: object) => ({ at: free.pop(), w: SIDE, h: SIDE, ...picture })
    let column = 0
    const orders = {
      'one block': () => ({ at: `${column++},66`, w: 1, h: 1 }),
      'an area of 400': () => takeNextArea({}),
      'an area of 400, with an image': () => takeNextArea({ image }),
    }
    for (let at = 0; at < WARM_UP_BLOCKS; at++) await measurePurchase(wall, orders['one block']())
    for (let at = 0; at < WARM_UP_AREAS; at++) await measurePurchase(wall, takeNextArea({ image }))
    const costs = await measureCosts(wall, orders, rounds)
    const idle = await measureHealth(wall, ms)
    const landing = await measureHealth(wall, ms, async () => {
      for (let at = 0; at < LANDINGS; at++) await measurePurchase(wall, takeNextArea(at % 2 === 0 ? {} : { image }))
    })
    const idleWhenFull = await measureHealth(full, ms)
    const [looked, looking] = await measureSearch(wall, full, Math.max(10, Math.ceil(ms / 20)))
    const [block = Number.NaN, area = Number.NaN, painted = Number.NaN] = costs.map(([, cost]) => cost)
    return {
      rows: [
        ...costs.map(([what, cost]) => ({ what, figures: { 'CPU ms before the response': cost } })),
        { what: 'health, idle', figures: idle },
        { what: 'health, during purchases of areas', figures: landing },
        { what: 'an order of 20x20 blocks for which no space is open', figures: looked },
        { what: 'health, idle, nearly full wall', figures: idleWhenFull },
        { what: 'health, during searches for space', figures: looking },
      ],
      ratios: {
        'area: 400 blocks over one': area / block,
        'area: 400 blocks and an image over one block': painted / block,
        'area: ms of health p99 during purchases of areas': landing['p99 ms'],
        'area: ms of health p99 during searches for space': looking['p99 ms'],
      },
    }
  } finally {
    await stubs.stop()
  }
}

// Positions away from the centre, which is sold.
const PLACES = [0, 20, 40, 60, 80, 100, 120, 140].flatMap((col) => {
  const isOuter = col <= 40 || col >= 100
  return [0, 70, ...(isOuter ? [20, 40] : [])].map((row) => `${col},${row}`)
})

type Order = Readonly<Record<string, unknown>>

/** The CPU time in milliseconds of each kind of order up to its response: the median of all rounds. */
async function measureCosts(wall: Server, orders: Readonly<Record<string, () => Order>>, rounds: number) {
  const costs = new Map<string, number[]>()
  for (let round = 0; round < rounds; round++)
    for (const [what, order] of Object.entries(orders)) {
      await Bun.sleep(PUBLISHED_AFTER_MS)
      costs.set(what, [...(costs.get(what) ?? []), await measurePurchase(wall, order())])
    }
  return [...costs].map(([what, all]) => [what, computeMedian(all)] as const)
}

/** Buys an area; returns the wall's CPU time until the response, in milliseconds. */
async function measurePurchase(wall: Server, order: Order): Promise<number> {
  const [payment] = await signPayments(wall, order, 1)
  return await measureCpuMs(wall.pid, async () => {
    const { status } = await postOrder(wall, order, payment)
    if (status !== 200) throw new Error(`the purchase of an area was answered with status ${status}`)
  })
}

/** Payment headers of this many wallets, signed for the wall's own terms for an order. */
async function signPayments(wall: Server, order: Order, count: number) {
  const payments = await signTerms(await postOrder(wall, order), count)
  return payments.map((payment) => ({ 'payment-signature': payment }))
}

async function postOrder({ port }: Server, order: Order, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`http://127.0.0.1:${port}/areas`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(order),
  })
  await response.arrayBuffer()
  return response
}

/** A part of the wall as a picture, in base64; it is as slow to decode as any other picture. */
async function fetchPicture({ port }: Server): Promise<string> {
  const picture = await fetch(`http://127.0.0.1:${port}/wall.png?col=70&row=35&cols=${SIDE}&rows=${SIDE}&scale=2`)
  return Buffer.from(await picture.arrayBuffer()).toString('base64')
}

const health = encodeRequest('GET', '/api/health')

/** Measures how long health checks take: while `doing` runs, or without it for `ms` milliseconds. */
async function measureHealth({ port }: Server, ms: number, doing?: () => Promise<unknown>) {
  let isOver = false
  const done = doing?.().finally(() => {
    isOver = true
  })
  const takeNext = () => (isOver ? undefined : health)
  const { latenciesMs } = await runLoad({
    port,
    getNextRequest: takeNext,
    connections: 1,
    ms: done === undefined ? ms : 60_000,
  })
  await done
  return computePercentiles(latenciesMs)
}

const computePercentiles = (latenciesMs: readonly number[]) => ({
  'p50 ms': computePercentile(latenciesMs, 0.5),
  'p99 ms': computePercentile(latenciesMs, 0.99),
})

/**
 * Orders the nearest open area of 400 blocks on a nearly full wall, with valid payments; measures the cost per order,
 * and how long health checks take during these orders.
 */
async function measureSearch(terms: Server, full: Server, count: number) {
  const payments = await signPayments(terms, { w: SIDE, h: SIDE }, count)
  const body = JSON.stringify({ w: SIDE, h: SIDE })
  const requests = payments.map((headers) =>
    encodeRequest('POST', '/areas', { ...headers, 'Content-Type': 'application/json' }, body),
  )
  let latencies: readonly number[] = []
  const sendOrders = async () => {
    const { latenciesMs, statuses } = await runLoad({
      port: full.port,
      getNextRequest: () => requests.pop(),
      connections: 1,
      ms: 60_000,
    })
    if (statuses.get(409) !== count)
      throw new Error(`a wall without space sent the statuses ${JSON.stringify([...statuses])}`)
    latencies = latenciesMs
  }
  let duringSearch = { 'p50 ms': Number.NaN, 'p99 ms': Number.NaN }
  const cpu = await measureCpuMs(full.pid, async () => {
    duringSearch = await measureHealth(full, 0, sendOrders)
  })
  return [{ 'CPU ms, including health checks': cpu / count, ...computePercentiles(latencies) }, duringSearch] as const
}
