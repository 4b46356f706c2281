/** The last alerts of a journal, for an operator who looks in. */

import type { UnixMs } from '../domain/purchase/payment.ts'
import type { Clock, Logger } from '../ports.ts'

/** One alert. */
export type Alert = { readonly at: UnixMs; readonly event: string; readonly facts: Parameters<Logger['alert']>[1] }

const KEPT = 10

/** The same journal, and the last ten alerts that were written to it, oldest first. */
export function recentAlerts(
  logger: Logger,
  { now }: Pick<Clock, 'now'>,
): { readonly logger: Logger; readonly last: () => readonly Alert[] } {
  const kept: Alert[] = []
  return {
    logger: {
      note: logger.note,
      alert(event, facts) {
        kept.push({ at: now(), event, facts })
        if (kept.length > KEPT) kept.shift()
        logger.alert(event, facts)
      },
    },
    last: () => [...kept],
  }
}
