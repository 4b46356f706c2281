import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { runLoad, encodeRequest } from '../../../bench/measure/load.ts'
import { fetchBlock, signBlockPayment } from '../../support/e2e/buyer.ts'
import { isInstalled, type Proxy, startProxy } from '../../support/e2e/proxies.ts'
import { expectBooksToBalance } from '../../support/e2e/read-wall.ts'
import { startWorld, type World } from '../../support/e2e/world.ts'
import { waitUntil } from '../../support/wait.ts'

// Goal: Caddy serves many clients of the wall without a failure of its own. Method: Caddy, configured as in `deploy/`,
// in front of a process, with concurrent readers and buyers. The tests are skipped if Caddy is not installed.

const READS_MS = 3000
const BUYERS = 20

describe.skipIf(!isInstalled('caddy'))('behind Caddy', () => {
  let wall: World
  let proxy: Proxy
  beforeAll(async () => {
    wall = await startWorld({ BASE_URL: 'http://127.0.0.1', SETTLE_TIMEOUT_MS: '60000', VERIFY_TIMEOUT_MS: '60000' })
    proxy = await startProxy('caddy', [new URL(wall.url).port])
  }, 60_000)
  afterAll(async () => {
    await proxy.stop()
    await wall.stop()
  })

  test('behind Caddy, all readers get responses while blocks are bought, and a follower receives each sale', async () => {
    const leaving = new AbortController()
    const heard = countSales(await fetch(`${proxy.url}/api/live`, { signal: leaving.signal }))
    const payments = await Promise.all(
      Array.from(
        { length: BUYERS },
        async () => await signBlockPayment(proxy, await wall.createFundedWallet(), 'next'),
      ),
    )
    const paths = ['/api/canvas', '/api/tail', '/', '/blocks/159,89', '/wall.png?cols=4&rows=4', '/llms.txt']
    const requests = paths.map((path) => encodeRequest('GET', path, { 'Accept-Encoding': 'identity' }))
    let asked = 0
    const takeNext = () => requests[asked++ % requests.length]
    const port = Number(new URL(proxy.url).port)
    const [reads, ...bought] = await Promise.all([
      runLoad({ port, getNextRequest: takeNext, connections: 16, ms: READS_MS }),
      ...payments.map((payment) => fetchBlock(proxy, 'next', payment)),
    ])
    expect(bought.map(({ status }) => status)).toEqual(payments.map(() => 200))
    // A read of the open block gets a 402. Pictures have a budget, so a read of a picture may get a 429.
    expect([...reads.statuses.keys()].filter((status) => ![200, 402, 429].includes(status))).toEqual([])
    expect(reads.requests).toBeGreaterThan(100)
    await waitUntil(() => heard.sales >= BUYERS)
    // Caddy stops only once all streams have ended.
    leaving.abort()
    await expectBooksToBalance(wall)
  })

  test('behind Caddy, a body that is too large gets a 413 with the error body_too_large, however far it exceeds the limit', async () => {
    for (const [path, bytes] of [
      ['/blocks/1,1', 100_000],
      ['/blocks/1,1', 2_000_000],
      ['/blocks/1,1', 6_000_000],
      ['/api/agents/me', 4_100_000],
      ['/api/pixels?w=1&h=1', 6_000_000],
    ] as const)
      for (const _ of [1, 2, 3]) {
        const method = path.startsWith('/api/pixels') ? 'POST' : 'PUT'
        const headers = { 'content-type': method === 'POST' ? 'image/png' : 'application/json' }
        const answer = await fetch(proxy.url + path, { method, headers, body: new Uint8Array(bytes) })
        expect([path, bytes, answer.status]).toEqual([path, bytes, 413])
        expect(await answer.json()).toMatchObject({ error: 'body_too_large' })
      }
  })
})

function countSales({ body }: Response) {
  const heard = { sales: 0 }
  const decoder = new TextDecoder()
  const countSaleEvents = async () => {
    for await (const chunk of body ?? []) heard.sales += decoder.decode(chunk).split('event: sale').length - 1
  }
  // The stream fails when the client leaves.
  countSaleEvents().catch(() => {})
  return heard
}
