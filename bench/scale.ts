/**
 * `bun run scale [--viewers 1000000] [--changes 1] [--caches 50] [--within 300] [--gb 0.085] [--million 1]`: computes,
 * from measured figures, the load of a crowd on a CDN and on the wall. Options: viewers, changes of the wall per
 * second, caches that query the wall directly, seconds within which all viewers arrive, and the CDN's prices in dollars
 * per GB and per million requests.
 */

import { parseArgs } from 'node:util'
import type { Row } from './findings.ts'
import { renderTable } from './report.ts'

/**
 * The viewers, the changes of the wall, the caches that query the wall, and the CDN's prices; see the options above.
 */
export type Crowd = Readonly<Record<'viewers' | 'changes' | 'caches' | 'within' | 'gb' | 'million', number>>

const DEFAULTS: Crowd = { viewers: 1_000_000, changes: 1, caches: 50, within: 300, gb: 0.085, million: 1 }

// The requests and bytes to open a full wall, gzipped, and to poll the tail, if each change has a picture
// (docs/scale.md, "In bytes").
const OPENING = { requests: 10, bytes: 1_296_000 }
const TAIL = { everyS: 4, bytes: 13_000, unchangedBytes: 400 }

// The size of a change with a picture, as an event. A stream begins with headers and ends with an event.
const EVENT_BYTES = 330
const STREAM_BYTES = 900
const HEARTBEAT = { everyS: 15, bytes: 20 }

// The length of a shared stream, and the time a cache keeps it (`server/http/live.ts`). A late reader also gets the
// events that the stream sent before.
const STREAM = { lengthS: 55, keptS: 40, overlapS: 5 }

// The requests per second that a cache sends to the wall (one every two seconds for each response that changes), and
// the processor time of one request.
const READS_PER_CACHE = 4
const READ_US = 150

// Processor time of sending a batch of events to one of 5,000 followers (`bun run bench Followers`). The wall sends at
// most one batch per second.
const FOLLOWER_US = 24

/** Computes the load per second of each way of following the wall. */
export function computePlan({ viewers, changes, caches, within, gb, million }: Crowd): readonly Row[] {
  const createRow = (what: string, requests: number, bytes: number, streams: number, us: number): Row => {
    const dollars = ((bytes * gb) / 1e9 + (requests * million) / 1e6) * 3600
    const figures = { 'requests/s': requests, 'GB/s': bytes / 1e9, streams, '% of a core': us / 1e4, '$/hour': dollars }
    return { what, figures }
  }
  const readsUs = caches * READS_PER_CACHE * READ_US
  const changed = Math.min(1, changes * TAIL.everyS)
  const tailBytes = changed * TAIL.bytes + (1 - changed) * TAIL.unchangedBytes
  const heard = changes * EVENT_BYTES + HEARTBEAT.bytes / HEARTBEAT.everyS
  // When a stream ends, its viewers move to the next stream, which started `keptS` seconds after it.
  const heardAgainS = STREAM.overlapS + STREAM.lengthS - STREAM.keptS
  const again = (STREAM_BYTES + heardAgainS * changes * EVENT_BYTES) / STREAM.keptS
  const batches = Math.min(1, changes)
  return [
    createRow('all arrive', (viewers * OPENING.requests) / within, (viewers * OPENING.bytes) / within, 0, readsUs),
    createRow('follow by polling the tail', viewers / TAIL.everyS, (viewers * tailBytes) / TAIL.everyS, 0, readsUs),
    createRow('a stream each', 0, viewers * heard, viewers, viewers * batches * FOLLOWER_US + readsUs),
    createRow('a shared stream', viewers / STREAM.keptS, viewers * (heard + again), 2 * caches, readsUs),
  ]
}

if (import.meta.main) {
  const names = Object.keys(DEFAULTS)
  const { values } = parseArgs({
    options: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
  })
  const given = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)]))
  const wrong = Object.entries(given).find(([, value]) => !(value >= 0 && value < Number.POSITIVE_INFINITY))
  if (wrong !== undefined) {
    console.error(
      `--${wrong[0]} must be a number that is not negative. Options: ${names.map((name) => `--${name} N`).join(', ')}`,
    )
    process.exit(2)
  }
  console.log(renderTable({ rows: computePlan({ ...DEFAULTS, ...given }), ratios: {} }))
}
