import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Receipt } from '../../shared/contract/block.ts'
import { fetchBlock, repaintBlock, signBlockPayment } from '../support/e2e/buyer.ts'
import { type Cluster, startCluster } from '../support/e2e/cluster.ts'
import { isInstalled, type Proxy, type ProxyName, startProxy } from '../support/e2e/proxies.ts'
import { expectBooksToBalance } from '../support/e2e/read-wall.ts'

// Goal: if three instances are replaced one after another, no client notices. Method: each load balancer, configured
// as in `deploy/`, in front of three processes on one PostgreSQL database, with readers, buyers and painters all the
// while. A missing response, or one with a 5xx, is a failure. Each part is skipped if its load balancer is not
// installed.

const REQUESTS = 2000
const READERS = 6
const BUYERS = 3
// More than twice the time between HAProxy's checks.
const DRAIN_MS = '2500'

const PATHS = ['/api/health', '/api/canvas', '/blocks/159,89', '/api/feed?limit=5', '/llms.txt', '/']

let wall: Cluster
beforeAll(async () => {
  wall = await startCluster(3, { DRAIN_MS, SETTLE_TIMEOUT_MS: '60000', VERIFY_TIMEOUT_MS: '60000' })
}, 60_000)
afterAll(() => wall.stop())

describe.each(['nginx', 'haproxy'] as const)('behind %s', (name: ProxyName) => {
  test.skipIf(!isInstalled(name))(
    'while three instances are restarted one after another, no request fails, not even a purchase or a repaint',
    async () => {
      const proxy = await startProxy(
        name,
        wall.instances.map(({ url }) => new URL(url).port),
      )
      try {
        const load = startLoad(proxy)
        for (const instance of wall.instances) {
          await instance.stop()
          await instance.start()
        }
        await load.waitForRequests(REQUESTS)
        const { failures, requests, purchases, repaints } = await load.stop()
        expect(failures).toEqual([])
        expect(requests).toBeGreaterThanOrEqual(REQUESTS)
        expect(Math.min(purchases, repaints)).toBeGreaterThan(BUYERS)
        await expectBooksToBalance({ ...wall, url: wall.getInstance(0).url })
      } finally {
        await proxy.stop()
      }
    },
    180_000,
  )
})

/** Starts readers, buyers and painters, which continue until they are stopped. */
function startLoad(proxy: Proxy) {
  const failures: string[] = []
  const counts = { requests: 0, purchases: 0, repaints: 0 }
  let isOver = false
  const recordOutcome = async (what: string, request: Promise<Response>): Promise<Response | undefined> => {
    counts.requests += 1
    try {
      const answer = await request
      if (answer.status < 500) return answer
      failures.push(`${what}: ${answer.status} ${await answer.text()}`)
    } catch (error) {
      failures.push(`${what}: ${String(error)}`)
    }
    return undefined
  }
  const keepReading = async (turn: number) => {
    for (let at = turn; !isOver; at++) {
      const path = PATHS[at % PATHS.length] ?? '/'
      await (await recordOutcome(path, fetch(proxy.url + path)))?.arrayBuffer()
    }
  }
  const keepBuying = async () => {
    while (!isOver) {
      const wallet = await wall.createFundedWallet()
      const payment = await signBlockPayment(proxy, wallet)
      counts.requests += 1
      const bought = await recordOutcome('purchase', fetchBlock(proxy, 'next', payment))
      if (bought?.status !== 200) {
        if (bought !== undefined) failures.push(`purchase: ${bought.status} ${await bought.text()}`)
        continue
      }
      counts.purchases += 1
      const { block } = (await bought.json()) as Receipt
      const repainted = await recordOutcome('repaint', repaintBlock(proxy, wallet, block, 'again'))
      if (repainted?.status === 200) counts.repaints += 1
      else if (repainted !== undefined) failures.push(`repaint: ${repainted.status} ${await repainted.text()}`)
    }
  }
  const workers = [
    ...Array.from({ length: READERS }, (_, turn) => keepReading(turn)),
    ...Array.from({ length: BUYERS }, keepBuying),
  ]
  return {
    async waitForRequests(requests: number) {
      while (counts.requests < requests) await Bun.sleep(50)
    },
    async stop() {
      isOver = true
      await Promise.all(workers)
      return { failures, ...counts }
    },
  }
}
