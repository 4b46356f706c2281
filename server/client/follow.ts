/** The wall's changes as they happen: server-sent events, read by number so that a lost connection loses nothing. */

import { setTimeout as pause } from 'node:timers/promises'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { Reset, ChangeDto } from '../../shared/contract/live.ts'
import { errorIn } from './wall-error.ts'

const RECONNECT_MS = 2000

/** Every change after a number, or from now on, until the signal ends it. */
export async function* follow(
  url: URL,
  after: number | undefined,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<ChangeDto | Reset> {
  let last = after
  while (!signal.aborted) {
    for await (const text of eventsAt(url, last, signal)) {
      const change = JSON.parse(text) as ChangeDto | Reset
      last = change.number
      yield change
    }
    // Who aborts the wait ends the loop, too.
    await pause(RECONNECT_MS, undefined, { signal }).catch(() => {})
  }
}

/** The data of each event, for as long as the connection holds. */
async function* eventsAt(url: URL, after: number | undefined, signal: AbortSignal): AsyncGenerator<string> {
  const headers = { accept: 'text/event-stream', ...(after === undefined ? {} : { 'last-event-id': String(after) }) }
  const response = await fetch(url, { headers, signal }).catch(() => undefined)
  if (response === undefined || response.body === null) return
  const error = response.ok ? undefined : await errorIn(response)
  if (error?.kind === 'refused') throw error
  if (!response.ok) return
  const events = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader()
  try {
    for (;;) {
      const next = await events.read().catch(() => undefined)
      if (next === undefined || next.done) return
      yield next.value.data
    }
  } finally {
    // A connection that is gone already cannot be ended again.
    await events.cancel().catch(() => {})
  }
}
