/** What supervisors and balancers ask: whether the process lives, sells, and answers readers. */

import type { Readiness, Ready } from '../health/readiness.ts'
import { NO_STORE, respondJson } from './respond.ts'
import { readOnly, type Route } from './route.ts'

/** The routes; a process that answers at all lives. */
export function probeRoutes({ readiness }: { readonly readiness: Readiness }): Route[] {
  return [
    { path: '/livez', methods: readOnly(() => respondJson(200, { alive: true }, NO_STORE)) },
    { path: '/readyz', methods: readOnly(() => respond(readiness.sells())) },
    { path: '/readyz/reads', methods: readOnly(() => respond(readiness.reads())) },
  ]
}

function respond({ ready, reasons, dependencies }: Ready): Response {
  const named = dependencies.map(({ since, ...rest }) => ({ ...rest, since: new Date(since).toISOString() }))
  return respondJson(ready ? 200 : 503, { ready, reasons, dependencies: named }, NO_STORE)
}
