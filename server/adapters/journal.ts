/** The operator's journal: one line of JSON an event, on standard error. */

import type { Journal } from '../ports.ts'

type Facts = Parameters<Journal['note']>[1]

/** Makes a journal over a sink of lines. */
export function lineJournal(write: (line: string) => void, now: () => number): Journal {
  const line = (level: string) => (event: string, facts?: Facts) =>
    write(JSON.stringify({ at: new Date(now()).toISOString(), level, event, ...facts }))
  return { note: line('note'), alarm: line('alarm') }
}
