/** The operator's journal: one line of JSON per event, on standard error. */

import { escapeLine } from '../../shared/terminal.ts'
import { createTokenBuckets, type Budget } from '../domain/token-bucket.ts'
import type { Clock, Logger } from '../ports.ts'

type Facts = Parameters<Logger['note']>[1]

// Events that anybody can cause must not fill the disk: the lines of many purchases per second fit into this budget,
// but those of a flood do not.
const BYTES: Budget = { burst: 1_048_576, perSecond: 65_536 }

// Much longer than any value needs.
const TEXT_MAX = 512

/**
 * Makes a journal that passes its lines to `write`. Notes and alerts each have a budget of bytes. Lines over the budget
 * are counted instead of written, and a line with the count precedes the next line that fits.
 */
export function createLineLogger(
  write: (line: string) => void,
  { now, elapsed }: Pick<Clock, 'now' | 'elapsed'>,
): Logger {
  const createLevel = (name: 'note' | 'alert') => {
    const formatLine = (event: string, facts: Facts) =>
      escapeLine(JSON.stringify({ at: new Date(now()).toISOString(), level: name, event, ...facts }, shortenText))
    const bytes = createTokenBuckets(BYTES, 1)
    let left = { lines: 0, bytes: 0 }
    return (event: string, facts?: Facts) => {
      const text = formatLine(event, facts)
      const count = left.lines === 0 ? [] : [formatLine('left-out', left)]
      const lines = [...count, text]
      const size = lines.reduce((sum, { length }) => sum + length, 0)
      if (bytes.take(name, elapsed(), size) > 0) {
        left = { lines: left.lines + 1, bytes: left.bytes + text.length }
        return
      }
      left = { lines: 0, bytes: 0 }
      lines.forEach(write)
    }
  }
  return { note: createLevel('note'), alert: createLevel('alert') }
}

const shortenText = (_: string, value: unknown) =>
  typeof value === 'string' && value.length > TEXT_MAX ? `${value.slice(0, TEXT_MAX)}…` : value
