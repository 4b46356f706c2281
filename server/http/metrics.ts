/** What is answered, told to whoever counts it. */

import { Elysia } from 'elysia'
import { answeredTo } from './errors.ts'

/** Counts an answer: the path of its route, its status, and the milliseconds it took. */
export type Meter = (route: string, status: number, tookMs: number) => void

// Blocks are counted together, and a series outlives what its route calls a name.
const NAME = /\/(?::\w+|next)$/

/** Tells of every answer of a route; of none where nobody counts, which spares each of them a turn. */
export function metrics(meter: Meter | undefined) {
  const app = new Elysia({ name: 'metrics' })
  if (meter === undefined) return app
  const startedAt = new WeakMap<Request, number>()
  return app
    .onRequest(({ request }) => {
      startedAt.set(request, performance.now())
    })
    .onAfterResponse({ as: 'global' }, ({ request, route, responseValue }) => {
      const started = startedAt.get(request)
      const response = responseValue instanceof Response ? responseValue : answeredTo(request)
      if (started !== undefined && response !== undefined)
        meter(route.replace(NAME, '/:name'), response.status, performance.now() - started)
    })
}

/** What answers outside of all routes, told in the same way as `route`. */
export const metered =
  (meter: Meter | undefined, route: string, answer: (request: Request) => Response) =>
  (request: Request): Response => {
    const started = performance.now()
    const response = answer(request)
    meter?.(route, response.status, performance.now() - started)
    return response
  }
