/** Counts and times what is asked over HTTP, under the path of its route: as many series as there are routes, whatever is asked for. */

import { Counter, Histogram, type Registry } from 'prom-client'

export type Handler = (request: Request) => Response | Promise<Response>

// Reads take a fraction of a millisecond, a purchase seconds.
const BUCKETS_SECONDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100]

/** Makes what counts and times a handler's answers; `route` is the path it is reached by. */
export function httpMeter(registry: Registry): (route: string, handler: Handler) => Handler {
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
  return (route, handler) => {
    const time = times.labels({ route })
    const counts = new Map<number, Counter.Internal>()
    const note = (start: number, response: Response) => {
      const { status } = response
      const count = counts.get(status) ?? requests.labels({ route, code: String(status) })
      counts.set(status, count)
      count.inc()
      time.observe((performance.now() - start) / 1000)
      return response
    }
    return (request) => {
      const start = performance.now()
      const answer = handler(request)
      return answer instanceof Promise ? answer.then((response) => note(start, response)) : note(start, answer)
    }
  }
}
