/**
 * `bun run endurance soak [--minutes N]`: uses a full wall at a moderate rate while every flood comes in its turn, and tells each minute
 * what its process holds. Ends with 1 if anything was answered otherwise than it should be, or an alert was told.
 */

import { parseArgs } from 'node:util'
import { FLOOD_NAMES } from '../abuse/floods.ts'
import { soak } from './soak.ts'

const MINUTE_MS = 60_000

const { values } = parseArgs({ args: Bun.argv.slice(2), options: { minutes: { type: 'string', default: '30' } } })
const minutes = Number(values.minutes)
if (!Number.isSafeInteger(minutes) || minutes < 1) {
  console.error('bun run endurance soak [--minutes N]')
  process.exit(2)
}
const rates = { readsPerSecond: 10, repaintsPerSecond: 3, followers: 200, purchases: 10 * minutes }
const { samples, ...summary } = await soak(
  { ms: minutes * MINUTE_MS, everyMs: MINUTE_MS, rates, floods: FLOOD_NAMES },
  (sample) => console.log(JSON.stringify(sample)),
)
const residentMb = [0, 0.5, 1].map((share) => samples[Math.round(share * (samples.length - 1))]?.residentMb)
console.log(JSON.stringify({ ...summary, samples: samples.length }, undefined, 2))
console.log(`resident MB at the start, in the middle and at the end: ${residentMb.join(', ')}`)
process.exit(summary.wrong.length + summary.alerts.length === 0 ? 0 : 1)
