/** `bun run endurance fuzz [REQUESTS] [SEED]`: a million generated requests at the whole service, unless told how many. */

import { openFuzzWall } from './fuzz-wall.ts'
import { fuzz } from './fuzz.ts'

const MILLION = 1_000_000
const TOLD_EVERY = 50_000

const requests = Number(Bun.argv[2] ?? MILLION)
const seed = Number(Bun.argv[3] ?? Date.now() % 2 ** 31)

const wall = await openFuzzWall()
try {
  console.log(`${requests} requests, seed ${seed}`)
  const started = performance.now()
  const { statuses, slowestMs, slowest } = await fuzz(wall, requests, seed, (done) => {
    if (done % TOLD_EVERY === 0) console.log(`${done} after ${((performance.now() - started) / 1000).toFixed(0)} s`)
  })
  for (const [status, count] of [...statuses].toSorted(([a], [b]) => a - b)) console.log(`${status}  ${count}`)
  console.log(`slowest answer ${slowestMs.toFixed(1)} ms: ${slowest}`)
} finally {
  await wall.close()
}
