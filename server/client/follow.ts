/**
 * Follows the wall's changes as they happen, over server-sent events. Change numbers make sure that a lost connection
 * loses nothing.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { Reset, ChangeDto } from '../../shared/contract/live.ts'
import { readError, createUnreachableFailure, type Failure } from './wall-error.ts'

const RECONNECT_MS = 2000

/** Options for following a wall. */
export type FollowOptions = {
  readonly after?: number | undefined // start after the change with this number; by default from now on
  readonly signal?: AbortSignal | undefined // stops following
  /** Called each time a connection is established. */
  readonly onConnect?: (() => void) | undefined
  /** Called once for each interruption; the connection is retried every two seconds. */
  readonly onLost?: ((why: Failure) => void) | undefined
}

/** Every change after a number, or from now on, until the signal aborts. */
export async function* follow(
  url: URL,
  { after, signal = new AbortController().signal, onConnect, onLost }: FollowOptions,
): AsyncGenerator<ChangeDto | Reset> {
  let last = after
  let isLost = false
  const handleConnected = () => {
    isLost = false
    onConnect?.()
  }
  const handleLost = (why: Failure) => {
    if (!isLost && !signal.aborted) onLost?.(why)
    isLost = true
  }
  while (!signal.aborted) {
    for await (const text of streamEvents(url, last, {
      signal,
      onConnected: handleConnected,
      onDisconnected: handleLost,
    })) {
      const change = JSON.parse(text) as ChangeDto | Reset
      last = change.number
      yield change
    }
    // Aborting the wait also ends the loop.
    await pause(RECONNECT_MS, undefined, { signal }).catch(() => {})
  }
}

type Connection = { readonly signal: AbortSignal; onConnected(): void; onDisconnected(why: Failure): void }

/** The data of each event, for as long as the connection lasts. */
async function* streamEvents(
  url: URL,
  after: number | undefined,
  { signal, onConnected: connected, onDisconnected: lost }: Connection,
): AsyncGenerator<string> {
  const headers = { accept: 'text/event-stream', ...(after === undefined ? {} : { 'last-event-id': String(after) }) }
  const response = await fetch(url, { headers, signal }).catch(() => undefined)
  if (response === undefined || response.body === null) return lost(createUnreachableFailure(url))
  if (!response.ok) {
    const error = await readError(response)
    if (error.kind === 'refused') throw error
    return lost(error)
  }
  connected()
  const events = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader()
  try {
    for (;;) {
      const next = await events.read().catch(() => undefined)
      if (next === undefined || next.done) return lost(ENDED)
      yield next.value.data
    }
  } finally {
    // Cancelling fails if the connection is already closed.
    await events.cancel().catch(() => {})
  }
}

const ENDED: Failure = { kind: 'unavailable', code: 'disconnected', message: 'The connection ended.' }
