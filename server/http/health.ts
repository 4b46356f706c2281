/**
 * Routes `/api/health`, for clients, and `/livez`, `/readyz` and `/readyz/reads`, for supervisors and load balancers.
 */

import { Elysia } from 'elysia'
import { Health } from '../../shared/contract/service.ts'
import { documentOperation, type OperationDocs } from '../discovery/openapi/operation.ts'
import { isPublic } from '../domain/dependency.ts'
import type { Readiness, Ready } from '../health/outages.ts'
import type { PaymentHealth } from '../health/payment-health.ts'
import type { Store } from '../ports.ts'
import type { Offer } from '../x402/terms.ts'
import { NO_STORE, respondJson } from './answer/respond.ts'

export type HealthDeps = {
  readonly store: Pick<Store, 'isReadable'>
  readonly rail: PaymentHealth
  readonly readiness: Readiness
  readonly offer: Offer
}

/** Makes the routes. A process that responds to `/livez` is alive. */
export const createHealthRoutes = (deps: HealthDeps) =>
  new Elysia({ name: 'health' })
    .get(
      '/api/health',
      async () => respondJson(200, await buildHealthReport(deps), NO_STORE),
      documentOperation(DOCS.readHealth),
    )
    .get('/livez', () => respondJson(200, { alive: true }, NO_STORE))
    .get('/readyz', () => respondReady(deps.readiness.checkSelling()))
    .get('/readyz/reads', () => respondReady(deps.readiness.checkReading()))

async function buildHealthReport({ store, rail, readiness, offer }: HealthDeps): Promise<Health> {
  const isReadable = await store.isReadable()
  const troubles = readiness.listTroubles()
  const ok = isReadable && troubles.every(({ kind }) => kind === 'clock')
  const faults = [rail.readFault(), ...troubles.map(({ reason }) => reason)].filter((fault) => fault !== null)
  return {
    ok,
    service: 'pixel-wall',
    rail: rail.readState(),
    ...(faults.length === 0 ? {} : { railError: faults.join('; ') }),
    network: offer.terms.network,
  }
}

function respondReady({ ready, reasons, dependencies }: Ready): Response {
  const named = dependencies
    .filter(isPublic)
    .map(({ since, ...rest }) => ({ ...rest, since: new Date(since).toISOString() }))
  return respondJson(ready ? 200 : 503, { ready, reasons, dependencies: named }, NO_STORE)
}

const DOCS = {
  readHealth: {
    id: 'readHealth',
    summary: 'Read whether the service works and accepts payments',
    description:
      'Always returns 200. `ok` says whether the database can be read and written, and `rail` whether payments are accepted.',
    answers: [Health],
    codes: ['internal_error'],
  },
} satisfies Record<string, OperationDocs>
