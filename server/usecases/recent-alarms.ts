/** The last alarms of a journal, for an operator who looks in. */

import type { UnixMs } from '../domain/payment.ts'
import type { Clock, Journal } from '../ports.ts'

/** One alarm. */
export type Alarm = { readonly at: UnixMs; readonly event: string; readonly facts: Parameters<Journal['alarm']>[1] }

const KEPT = 10

/** The same journal, and the last ten alarms that were written to it, oldest first. */
export function recentAlarms(
  journal: Journal,
  { now }: Pick<Clock, 'now'>,
): { readonly journal: Journal; readonly last: () => readonly Alarm[] } {
  const kept: Alarm[] = []
  return {
    journal: {
      note: journal.note,
      alarm(event, facts) {
        kept.push({ at: now(), event, facts })
        if (kept.length > KEPT) kept.shift()
        journal.alarm(event, facts)
      },
    },
    last: () => [...kept],
  }
}
