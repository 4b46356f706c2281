/** A journal that remembers. */

import type { Journal } from '../../server/ports.ts'

export type Entry = { readonly event: string; readonly facts: Readonly<Record<string, string | number | boolean>> }

export type FakeJournal = Journal & { readonly notes: Entry[]; readonly alarms: Entry[] }

export function fakeJournal(): FakeJournal {
  const notes: Entry[] = []
  const alarms: Entry[] = []
  return {
    notes,
    alarms,
    note: (event, facts = {}) => void notes.push({ event, facts }),
    alarm: (event, facts = {}) => void alarms.push({ event, facts }),
  }
}
