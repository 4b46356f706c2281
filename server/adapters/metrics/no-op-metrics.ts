/** Counting and timing for whom nobody reads. Apart, because what counts for monitors takes a while to load. */

import type { Metrics } from './metrics.ts'

/** What a wall's ports and answers pass through. */
export type Meters = Pick<Metrics, 'facilitator' | 'chain' | 'ledger' | 'logger' | 'outcome' | 'paid'> &
  Partial<Pick<Metrics, 'http'>>

/** Meters that count nothing. */
export const noOpMetrics: Meters = {
  facilitator: (port) => port,
  chain: (port) => port,
  ledger: (port) => port,
  logger: (logger) => logger,
  outcome: () => {},
  paid: () => {},
}
