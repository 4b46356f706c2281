/** Reports each response to the meter. */

import { Elysia } from 'elysia'
import { findErrorResponse } from './errors.ts'

/** Counts a response: the path of its route, its status and its duration in milliseconds. */
export type Meter = (route: string, status: number, tookMs: number) => void

// All values of a last path segment share one series, whose label does not depend on the name of the parameter.
const NAME = /\/(?::\w+|next)$/

/**
 * Reports each response of a route. Without a meter there are no hooks, which saves an asynchronous step for each
 * request.
 */
export function createMetricsPlugin(meter: Meter | undefined) {
  const app = new Elysia({ name: 'metrics' })
  if (meter === undefined) return app
  const startedAt = new WeakMap<Request, number>()
  return app
    .onRequest(({ request }) => {
      startedAt.set(request, performance.now())
    })
    .onAfterResponse({ as: 'global' }, ({ request, route, responseValue }) => {
      const started = startedAt.get(request)
      const response = responseValue instanceof Response ? responseValue : findErrorResponse(request)
      if (started !== undefined && response !== undefined)
        meter(route.replace(NAME, '/:name'), response.status, performance.now() - started)
    })
}

/** Wraps a handler that does not belong to a route, and reports its responses under the name `route`. */
export const measureResponses =
  (meter: Meter | undefined, route: string, answer: (request: Request) => Response) =>
  (request: Request): Response => {
    const started = performance.now()
    const response = answer(request)
    meter?.(route, response.status, performance.now() - started)
    return response
  }
