/** Counts and times what is asked over HTTP, under the path of its route: as many series as there are routes, whatever is asked for. */

import { Counter, Histogram, type Registry } from 'prom-client'

// Reads take a fraction of a millisecond, a purchase seconds.
const BUCKETS_SECONDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100]

/** Counts an answer: the path of its route, its status, and the milliseconds it took. */
export type HttpMeter = (route: string, status: number, tookMs: number) => void

/** Makes what counts and times answers. */
export function httpMeter(registry: Registry): HttpMeter {
  const registers = [registry]
  const requests = new Counter({
    name: 'wall_http_requests_total',
    help: 'Requests over HTTP, by route and status.',
    labelNames: ['route', 'code'],
    registers,
  })
  const times = new Histogram({
    name: 'wall_http_request_duration_seconds',
    help: 'Time until a request over HTTP was answered; of streams, until they began.',
    labelNames: ['route'],
    buckets: BUCKETS_SECONDS,
    registers,
  })
  const countsOf = new Map<string, Map<number, Counter.Internal>>()
  return (route, status, tookMs) => {
    const counts = countsOf.get(route) ?? new Map<number, Counter.Internal>()
    countsOf.set(route, counts)
    const count = counts.get(status) ?? requests.labels({ route, code: String(status) })
    counts.set(status, count)
    count.inc()
    times.observe({ route }, tookMs / 1000)
  }
}
