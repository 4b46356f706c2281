/** `bun run endurance connections [COUNT]`: ten thousand half-open connections, and how everybody else fares meanwhile. */

import { startWorld } from '../../support/e2e/world.ts'
import { fares, type Fares, gather, memoryMib } from './connections.ts'

const REQUESTS = 2000

// Bun closes what sends no whole header after 12 s; a little longer, and all that is left is gone.
const GONE_AFTER_MS = 15_000

const world = await startWorld()
try {
  const { pid } = world.wall()
  const tell = async (when: string, { p50, p99, unanswered }: Fares) =>
    console.log(
      `${when}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${unanswered} unanswered, memory ${(await memoryMib(pid)).toFixed(0)} MiB`,
    )
  await fares(world.url, REQUESTS)
  await tell('alone', await fares(world.url, REQUESTS))
  const crowd = await gather(new URL(world.url).host, Number(Bun.argv[2] ?? 10_000))
  await tell(`with ${crowd.count} half-open connections`, await fares(world.url, REQUESTS))
  await Bun.sleep(GONE_AFTER_MS)
  await tell('while they are closed and come again', await fares(world.url, REQUESTS))
  await crowd.leave()
  await Bun.sleep(GONE_AFTER_MS)
  await tell('after they left', await fares(world.url, REQUESTS))
} finally {
  await world.stop()
}
