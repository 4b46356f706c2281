import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readRequestCount, simulateViewers } from '../../../bench/scenarios/viewers.ts'
import { buyBlock, fetchBlock, repaintBlock } from '../../support/e2e/buyer.ts'
import { isInstalled, type Proxy, startProxy } from '../../support/e2e/proxies.ts'
import { findMetricsPort } from '../../support/e2e/read-wall.ts'
import { startWorld, type World } from '../../support/e2e/world.ts'
import { readBody, createClient } from '../../support/service/client.ts'
import { waitUntil } from '../../support/wait.ts'

// Goal: a caching proxy lets any number of people view the wall, and disturbs no purchase. Method: nginx, configured as
// in `deploy/`, in front of a process that counts its responses. The tests are skipped if nginx is not installed.

const PRIVATE = ['/blocks/1,1', '/blocks/next', '/api/health', '/readyz', '/api/space?w=1&h=1']

describe.skipIf(!isInstalled('caching-nginx'))('behind a proxy with a cache', () => {
  let wall: World
  let proxy: Proxy
  const countAnsweredByWall = () => readRequestCount(findMetricsPort(wall.getWall()))
  beforeAll(async () => {
    wall = await startWorld({ METRICS_PORT: '0', BASE_URL: 'http://127.0.0.1' })
    proxy = await startProxy('caching-nginx', [new URL(wall.url).port])
  }, 60_000)
  afterAll(async () => {
    await proxy.stop()
    await wall.stop()
  })

  test('behind a caching proxy, ten times as many viewers cause at most twice as many requests to the wall', async () => {
    const measureAsViewers = async (viewers: number) => {
      const before = await countAnsweredByWall()
      const served = await simulateViewers(proxy.url, viewers, 5000)
      return { served, ofTheWall: (await countAnsweredByWall()) - before }
    }
    const [few, many] = [await measureAsViewers(100), await measureAsViewers(1000)]
    expect(many.served).toBeGreaterThan(8 * few.served)
    expect(many.ofTheWall).toBeLessThanOrEqual(2 * few.ofTheWall)
    expect(many.ofTheWall).toBeLessThan(many.served / 10)
  })

  test('behind a caching proxy, a block can be bought and repainted, and the log tail shows the repaint even if the proxy had cached an earlier tail', async () => {
    const wallet = await wall.createFundedWallet()
    const block = '70,40'
    expect((await fetchBlock(proxy, block)).status).toBe(402)
    const readTail = () => readBody(createClient(proxy).api.tail.get())
    await readTail()
    await buyBlock(proxy, wallet, block)
    expect((await fetchBlock(proxy, block)).status).toBe(200)
    const message = 'seen by all'
    expect((await repaintBlock(proxy, wallet, block, message)).status).toBe(200)
    await waitUntil(async () => (await readTail()).changes.some((one) => 'm' in one && one.m === message))
  })

  test('behind a caching proxy, every request for a block, for open space or for health reaches the wall', async () => {
    for (const path of PRIVATE) {
      const before = await countAnsweredByWall()
      for (const _ of [1, 2, 3]) await (await fetch(proxy.url + path)).arrayBuffer()
      expect([path, (await countAnsweredByWall()) - before]).toEqual([path, 3])
    }
  })

  test('behind a caching proxy, each reader gets the encoding and the content type that it accepts, and a 304 if its copy is current', async () => {
    const fetchCanvas = async (headers: Record<string, string>) =>
      await fetch(`${proxy.url}/api/canvas`, { headers, decompress: false })
    const forms = { gzip: 'gzip', zstd: 'zstd', identity: null }
    for (const [encoding, sent] of Object.entries(forms))
      for (const _ of [1, 2]) {
        const answer = await fetchCanvas({ 'accept-encoding': encoding })
        expect([encoding, answer.headers.get('content-encoding')]).toEqual([encoding, sent])
        const held = { 'accept-encoding': encoding, 'if-none-match': answer.headers.get('etag') ?? '' }
        expect((await fetchCanvas(held)).status).toBe(304)
      }
    const readHome = async (accept: string) =>
      (await fetch(proxy.url, { headers: { accept } })).headers.get('content-type')
    for (const _ of [1, 2])
      expect([await readHome('text/html'), await readHome('text/markdown')]).toEqual([
        'text/html; charset=utf-8',
        'text/markdown; charset=utf-8',
      ])
  })

  test('a caching proxy rejects live streams with 503, without a request to the wall', async () => {
    const before = await countAnsweredByWall()
    expect((await fetch(`${proxy.url}/api/live`)).status).toBe(503)
    expect(await countAnsweredByWall()).toBe(before)
  })
})
