/**
 * GET /api/live: the log as server-sent events. Each change is an event whose id is its number, so that a reader who
 * comes back with `Last-Event-ID` misses nothing and sees nothing twice.
 */

import { failure } from '../domain/failure.ts'
import type { Change, LogNumber, ModerationChange } from '../domain/log.ts'
import { visible } from '../domain/moderation.ts'
import { wireChange } from '../domain/wire-change.ts'
import type { Clock, Log } from '../ports.ts'
import { readInteger } from './query.ts'
import { refuse } from './refuse.ts'
import { respondEvents } from './respond.ts'
import type { Handler } from './route.ts'

/** Everyone who follows the wall. */
export type Live = {
  readonly answer: Handler
  /** Tells of a change that the view has. */
  changed(change: Change): void
  /** Ends every connection, so that the process can; readers come back by themselves. */
  close(): void
}

/** What following needs; `everyMs` is the least time between two batches of events. */
export type LiveSource = {
  readonly log: Log
  readonly clock: Clock
  readonly number: () => LogNumber // of the newest change that was told
  readonly advance: () => Promise<void> // tells what others have written since
  readonly everyMs: number
}

const FOLLOWERS_MAX = 10_000

// Events kept for those who come back after a short break; older ones are read from the log.
const RECENT_MAX = 2000

const PAGE = 500

// A reader this far behind is cut off, and catches up when it comes back.
const BACKLOG_MAX_BYTES = 256 * 1024

const HEARTBEAT_MS = 15_000

type Follower = {
  sentTo: LogNumber
  readonly send: (text: string) => void
  readonly end: () => void
}

/** Makes the one live stream of this process. */
export function live({ log, clock, number, advance, everyMs }: LiveSource): Live {
  const followers = new Set<Follower>()
  const recent = memory()
  const stopped = new AbortController()
  let flushing: Promise<void> | undefined
  let lastSentAt = clock.elapsed()

  const tellAll = (textFor: (follower: Follower) => string) => {
    for (const follower of followers) {
      const text = textFor(follower)
      if (text !== '') follower.send(text)
    }
    lastSentAt = clock.elapsed()
  }
  const flush = async () => {
    await clock.wait(everyMs, stopped.signal)
    flushing = undefined
    tellAll((follower) => {
      const text = recent.after(follower.sentTo)
      follower.sentTo = number()
      return text
    })
  }
  const beat = async () => {
    while (!stopped.signal.aborted) {
      await clock.wait(HEARTBEAT_MS, stopped.signal)
      if (clock.elapsed() - lastSentAt >= HEARTBEAT_MS) tellAll(() => ': still here\n\n')
    }
  }
  void beat()

  const join = (follower: Follower) => {
    followers.add(follower)
    if (number() > follower.sentTo) flushing ??= flush()
    return () => void followers.delete(follower)
  }
  const streamFrom = (from: LogNumber) =>
    from > number() ? refuse(badStart()) : respondEvents(follow(missed(log, recent, number, from), join))
  return {
    answer(request) {
      if (followers.size >= FOLLOWERS_MAX || stopped.signal.aborted) return refuse(tooMany())
      if (request.method === 'HEAD') return respondEvents(null)
      const from = startOf(request) ?? number()
      // A reader may come from another process that was quicker to follow the log.
      return from > number() && from < Number.POSITIVE_INFINITY
        ? advance().then(() => streamFrom(from))
        : streamFrom(from)
    },
    changed(change) {
      recent.remember(change)
      if (followers.size > 0) flushing ??= flush()
    },
    close() {
      stopped.abort()
      for (const follower of followers) follower.end()
    },
  }
}

/** The newest events, ready to be sent. */
type Memory = {
  remember(change: Change): void
  /** Number of the oldest event kept; infinite while there is none. */
  oldest(): LogNumber
  /** All events kept after a number. */
  after(number: LogNumber): string
}

function memory(): Memory {
  const events: Told[] = []
  // The log tells what it holds without what is hidden later, and so must we.
  const withhold = ({ block, hidden }: ModerationChange) => {
    for (const [at, { change }] of events.entries())
      if ('face' in change && change.block === block)
        events[at] = told({ ...change, face: visible(change.face, hidden) })
  }
  // Nearly all followers are equally far, and share one text.
  let shared = { after: 0, upTo: 0, text: '' }
  return {
    remember(change) {
      if (change.kind === 'hide') withhold(change)
      events.push(told(change))
      if (events.length > 2 * RECENT_MAX) events.splice(0, RECENT_MAX)
    },
    oldest: () => events[0]?.change.number ?? Number.POSITIVE_INFINITY,
    after(number) {
      const upTo = events.at(-1)?.change.number ?? 0
      if (shared.after !== number || shared.upTo !== upTo) {
        const first = events.findLastIndex(({ change }) => change.number <= number) + 1
        const text = events.slice(first).map((event) => event.text())
        shared = { after: number, upTo, text: text.join('') }
      }
      return shared.text
    },
  }
}

/** A change, and what readers are told of it, which is made once and only when somebody follows. */
type Told = { readonly change: Change; readonly text: () => string }

function told(change: Change): Told {
  let text: string | undefined
  return { change, text: () => (text ??= eventOf(change)) }
}

/** Reads what a reader missed, first from the log and then from memory; answers the number it reaches. */
async function* missed(
  log: Log,
  recent: Memory,
  number: () => LogNumber,
  from: LogNumber,
): AsyncGenerator<string, LogNumber> {
  let at = from
  while (at < number() && at + 1 < recent.oldest()) {
    const changes = await log.after(at, PAGE)
    if (changes.length === 0) break
    yield changes.map((change) => eventOf(change)).join('')
    at = changes.at(-1)?.number ?? at
  }
  const to = number()
  const text = recent.after(at)
  if (text !== '') yield text
  return to
}

/** One reader's stream: what it missed at its own pace, then whatever is told. */
function follow(reading: AsyncGenerator<string, LogNumber>, join: (follower: Follower) => () => void) {
  const encoder = new TextEncoder()
  let leave: (() => void) | undefined
  const becomeFollower = (controller: ReadableStreamDefaultController<Uint8Array>, sentTo: LogNumber) => {
    const end = () => {
      leave?.()
      controller.close()
    }
    const send = (text: string) => {
      if ((controller.desiredSize ?? 0) < -BACKLOG_MAX_BYTES) end()
      else controller.enqueue(encoder.encode(text))
    }
    leave = join({ sentTo, send, end })
  }
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(encoder.encode('retry: 2000\n\n')),
      async pull(controller) {
        if (leave !== undefined) return
        const step = await reading.next()
        if (step.done === true) becomeFollower(controller, step.value)
        else controller.enqueue(encoder.encode(step.value))
      },
      cancel: () => leave?.(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 1 }),
  )
}

const eventOf = (change: Change) => {
  const wire = wireChange(change)
  return `id: ${wire.number}\nevent: ${wire.kind}\ndata: ${JSON.stringify(wire)}\n\n`
}

/** Where a reader goes on: after the event it names; `undefined` for one that begins now. */
function startOf(request: Request): LogNumber | undefined {
  const header = request.headers.get('last-event-id')
  return header === null || header === '' ? undefined : (readInteger(header) ?? Number.POSITIVE_INFINITY)
}

const badStart = () =>
  failure(
    'invalid_after',
    'Last-Event-ID must be the number of an event of this stream. Leave it out to start from now.',
  )

const tooMany = () =>
  failure('server_busy', 'Too many readers follow the wall. Poll GET /api/feed, or try again in a minute.', {
    retryAfter: 60,
  })
