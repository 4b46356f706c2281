import { afterAll, beforeAll, expect, test } from 'bun:test'
import { isInstalled, startProxy, type Proxy } from '../support/e2e/proxies.ts'
import { reportSkipped } from '../support/skipped.ts'

// Goal: nginx counts requests per client as the wall does. Method: the recipe in a real nginx, which takes the peer's
// address from a header, in front of a server that responds to every request.

const isSkipped = reportSkipped('nginx', isInstalled('nginx'))

let wall: ReturnType<typeof Bun.serve>
let proxy: Proxy
beforeAll(async () => {
  if (isSkipped) return
  wall = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('here') })
  proxy = await startProxy('nginx', [String(wall.port)])
})
afterAll(async () => {
  if (isSkipped) return
  await proxy.stop()
  await wall.stop(true)
})

// More than the 120 requests that one client may send at once.
const REQUESTS = 200

/** Returns how many requests nginx rejects; `peerOf` gives the peer address of each request. */
async function countRefusedRequests(peerOf: (nth: number) => string): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: REQUESTS }, async (_, nth) => {
      const response = await fetch(`${proxy.url}/api/pixels`, { headers: { 'x-peer': peerOf(nth) } })
      await response.body?.cancel()
      return response.status
    }),
  )
  expect(new Set(statuses).isSubsetOf(new Set([200, 429]))).toBe(true)
  return statuses.filter((status) => status === 429).length
}

const toHex = (nth: number) => nth.toString(16)

test.skipIf(isSkipped).each<[string, (nth: number) => string, boolean]>([
  ['rejects some of 200 requests from one IPv4 address', () => '198.51.100.1', true],
  ['accepts 200 requests from many IPv4 addresses', (nth) => `192.0.2.${nth}`, false],
  ['accepts 200 requests from many IPv4 addresses that are written as IPv6', (nth) => `::ffff:203.0.113.${nth}`, false],
  [
    'rejects some of 200 requests from many addresses in one IPv6 /64 network',
    (nth) => `2001:db8:0:1:${toHex(nth)}::${toHex(nth)}`,
    true,
  ],
  [
    'accepts 200 requests from one address in each of many IPv6 /64 networks',
    (nth) => `2001:db8:1:${toHex(nth)}::1`,
    false,
  ],
])('nginx %s', async (_, peerOf, isRefused) => {
  expect((await countRefusedRequests(peerOf)) > 0).toBe(isRefused)
})
