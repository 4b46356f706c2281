/** A logger that keeps its entries in memory. */

import type { Logger } from '../../../server/ports.ts'

export type Entry = { readonly event: string; readonly facts: Readonly<Record<string, string | number | boolean>> }

export type FakeLogger = Logger & { readonly notes: Entry[]; readonly alerts: Entry[] }

export function createFakeLogger(): FakeLogger {
  const notes: Entry[] = []
  const alerts: Entry[] = []
  return {
    notes,
    alerts,
    note: (event, facts = {}) => void notes.push({ event, facts }),
    alert: (event, facts = {}) => void alerts.push({ event, facts }),
  }
}
