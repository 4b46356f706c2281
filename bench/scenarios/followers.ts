/** The live stream: how soon all followers see a repaint, and the cost per follower. */

import type { Socket } from 'bun'
import { TOTAL_BLOCKS } from '../../shared/wall.ts'
import type { Row, Scenario } from '../findings.ts'
import { measureCpuMs } from '../measure/cpu.ts'
import { encodeRequest, sendOnce } from '../measure/load.ts'
import { computeMedian, computePercentile } from '../measure/pair.ts'
import { createRepaintSigner } from './owners.ts'

export const measureFollowers: Scenario = async (servers, { rounds }) => {
  const [wall, sign] = [await servers.getWall(TOTAL_BLOCKS), createRepaintSigner(TOTAL_BLOCKS)]
  const rows: Row[] = []
  for (const count of [100, 1000, 5000]) {
    const crowd = await openStreams(wall.port, count)
    const [slowest, cost]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      const arrivals = crowd.waitForArrivals()
      const bytes = sign()
      const ms = await measureCpuMs(wall.pid, async () => {
        const startedAt = performance.now()
        await sendOnce(wall.port, bytes)
        slowest.push(computePercentile(await arrivals, 0.99) - startedAt)
      })
      cost.push((ms * 1000) / count)
    }
    crowd.close()
    rows.push({
      what: `${count} followers`,
      figures: { 'p99 ms': computeMedian(slowest), 'CPU µs each': computeMedian(cost) },
    })
  }
  return { rows, ratios: {} }
}

/**
 * Opens this many streams. Once all streams have received a change, `waitForArrivals` resolves to the times of arrival.
 */
async function openStreams(port: number, count: number) {
  let heard: number[] = []
  let all = Promise.withResolvers<readonly number[]>()
  const greeted = Promise.withResolvers<void>()
  let greetings = 0
  const onData = (_: unknown, chunk: Uint8Array) => {
    const text = Buffer.from(chunk).toString('latin1')
    if (text.includes('retry:') && ++greetings === count) greeted.resolve()
    if (text.includes('event:') && heard.push(performance.now()) === count) all.resolve(heard)
  }
  const sockets: Socket[] = []
  for (let at = 0; at < count; at++) {
    // One address may open only a few hundred streams, so each crowd uses its own addresses.
    const address = `10.${count % 251}.${Math.floor(at / 250)}.1`
    const request = encodeRequest('GET', '/api/live', { 'X-Forwarded-For': address })
    const open = (socket: { write(bytes: Uint8Array): number }) => void socket.write(request)
    sockets.push(await Bun.connect({ hostname: '127.0.0.1', port, socket: { open, data: onData } }))
  }
  await greeted.promise
  return {
    waitForArrivals: () => {
      heard = []
      all = Promise.withResolvers()
      return all.promise
    },
    close: () => {
      for (const socket of sockets) socket.end()
    },
  }
}
