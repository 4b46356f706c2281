/** Viewers behind a caching proxy: how many of their requests reach the wall. */

import { findFreePort } from '../../server/local/wall-process.ts'
import { isInstalled, startProxy } from '../../test/support/e2e/proxies.ts'
import type { Row, Scenario } from '../findings.ts'
import { encodeRequest } from '../measure/load.ts'
import { createRepaintSigner } from './owners.ts'
import { sendPaced } from './repaints.ts'

// The number of sold blocks does not matter, because viewers request the same paths.
const BLOCKS = 1000
const CROWDS = [100, 1000, 10_000]

export const measureViewers: Scenario = async (servers, { ms }) => {
  if (!isInstalled('caching-nginx')) {
    console.warn('Viewers behind a caching proxy are not measured: nginx is not installed.')
    return { rows: [], ratios: {} }
  }
  const METRICS_PORT = String(await findFreePort())
  const wall = await servers.getWall(BLOCKS, 'viewed', { METRICS_PORT })
  const sign = createRepaintSigner(BLOCKS)
  const proxy = await startProxy('caching-nginx', [String(wall.port)])
  try {
    const rows: Row[] = []
    for (const count of CROWDS) {
      const before = await readRequestCount(METRICS_PORT)
      const [served, painted] = await Promise.all([
        simulateViewers(proxy.url, count, WINDOWS * ms),
        sendPaced(wall.port, sign, 1, WINDOWS * ms),
      ])
      const ofTheWall = (await readRequestCount(METRICS_PORT)) - before - painted
      rows.push({
        what: `${count} viewers`,
        figures: { 'reads served': served, 'reads served by the wall': ofTheWall },
      })
    }
    const getReads = (at: number) => rows[at]?.figures['reads served by the wall'] ?? Number.NaN
    return { rows, ratios: { 'viewers: reads of the wall, 10,000 over 100': getReads(2) / getReads(0) } }
  } finally {
    await proxy.stop()
  }
}

// The measurement lasts longer than proxies keep any response that can change.
const WINDOWS = 10

// The requests that a page without a stream makes within a minute, besides those for its files.
const TAILS = 15
const CANVASES = 3

/** The paths that a viewer requests in the first minute, with the rare ones spread among the frequent ones. */
async function readMinutePaths(url: string): Promise<string[]> {
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
  const files = [...page.matchAll(/(?:src|href)="(\/(?:assets\/|icon|manifest)[^"]*)"/g)].map(([, path = '']) => path)
  const canvases = Array.from({ length: CANVASES }, () => ['/api/canvas.bin', '/api/blocks'])
  const rare = ['/', ...files, ...canvases.flat()]
  return Array.from({ length: Math.max(TAILS, rare.length) }, (_, at) => [
    ...(at < rare.length ? [rare[at] ?? '/'] : []),
    ...(at < TAILS ? ['/api/tail'] : []),
  ]).flat()
}

/** Simulates this many viewers for a time; returns how many of their requests got a 200. */
export async function simulateViewers(url: string, viewers: number, ms: number): Promise<number> {
  const minute = await readMinutePaths(url)
  const requests = minute.map((path) => encodeRequest('GET', path, { 'Accept-Encoding': 'gzip', Accept: '*/*' }))
  let made = 0
  const takeNext = () => requests[made++ % requests.length] ?? new Uint8Array()
  return await sendPaced(Number(new URL(url).port), takeNext, (viewers * minute.length) / 60, ms)
}

/** How many requests a wall has answered so far. */
export async function readRequestCount(metricsPort: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  const counts = [...text.matchAll(/^wall_http_requests_total\{.*\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}
