/** Metrics that count nothing. In a file of its own, because the real ones take a while to load. */

import type { Metrics } from './metrics.ts'

/** What wraps a wall's ports and counts its answers. */
export type Meters = Pick<Metrics, 'facilitator' | 'chain' | 'ledger' | 'logger' | 'outcome' | 'paid' | 'waited'> &
  Partial<Pick<Metrics, 'http'>>

/** Meters that count nothing. */
export const noOpMetrics: Meters = {
  facilitator: (port) => port,
  chain: (port) => port,
  ledger: (port) => port,
  logger: (logger) => logger,
  outcome: () => {},
  paid: () => {},
  waited: () => {},
}
