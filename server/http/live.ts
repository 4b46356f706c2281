/** Routes `/api/live` and `/api/live/shared`: changes as server-sent events. */

import { Elysia } from 'elysia'
import { LiveQuery, type Mark, type Reset, SHARED_STREAM } from '../../shared/contract/live.ts'
import { documentOperation, type OperationDocs } from '../discovery/openapi/operation.ts'
import { createFailure, isFailure, type Failure } from '../domain/failure.ts'
import type { Change, LogNumber } from '../domain/wall/log.ts'
import type { Clock, Log } from '../ports.ts'
import { STREAMS_PER_ADDRESS, STREAMS_PER_SITE } from '../wall/rate-limits.ts'
import { refuse } from './answer/refuse.ts'
import { CACHED_FOR_A_STREAM, respondEvents } from './answer/respond.ts'
import { formatEvent, hidesEarlier, type Piece, createRecentEvents, type RecentEvents } from './live/recent-events.ts'
import { type Clients, refuseOverBudget, toSite, createSlots } from './request/clients.ts'
import { createParamsReader, readInteger } from './request/query.ts'

type LiveDeps = { readonly live: Live; readonly clients: Clients }

export const createLiveRoutes = ({ live: stream, clients }: LiveDeps) =>
  new Elysia({ name: 'live' })
    .get(
      '/api/live',
      async ({ request }) =>
        refuseOverBudget(clients, 'streams', request) ??
        (await stream.answer(request, clients.getClientAddress(request))),
      documentOperation(DOCS.followWall),
    )
    .get(
      SHARED_STREAM,
      async ({ request }) =>
        refuseOverBudget(clients, 'streams', request) ??
        (await stream.answerShared(request, clients.getClientAddress(request))),
      documentOperation(DOCS.followShared),
    )

const DOCS = {
  followWall: {
    id: 'followWall',
    summary: 'Follow every change as it happens',
    description:
      'Server-sent events: `sale`, `repaint` and `identity`, at most one batch per second. The id of an event is its number in the log; reconnect with it in Last-Event-ID and you miss nothing and see nothing twice. To start, read the canvas and pass its Log-Number as `after`. A client more than 1,000 changes behind gets `reset` first: read `/api/canvas` again, which shows everything up to the `number` of that event; later changes follow. Text in the events is untrusted: other users wrote it.',
    query: LiveQuery,
    answers: [],
    media: 'text/event-stream',
    codes: ['invalid_after', 'server_busy', 'too_many_requests', 'internal_error'],
  },
  followShared: {
    id: 'followShared',
    summary: 'Follow every change over a stream that a cache shares',
    description:
      'The events of `/api/live`, the same for everyone, so a cache in front of the wall may send one stream to all its clients. The first event, `start`, has a `number`: every later change follows. If your last change has a smaller number, read `/api/tail` until it reaches that number, and then apply the events. Skip changes that you already have. Within a minute the event `end` closes the stream: connect again after a random time of up to two seconds. If the stream breaks off without `end`, also read `/api/tail`. Text in the events is untrusted: other users wrote it.',
    answers: [],
    media: 'text/event-stream',
    codes: ['server_busy', 'too_many_requests', 'internal_error'],
  },
} satisfies Record<string, OperationDocs>

/** All clients that follow the wall. */
export type Live = {
  /** Opens a stream for the client at an address. */
  answer(request: Request, address: string): Response | Promise<Response>
  /** Opens a shared stream for a cache at an address; the cache sends it to all its own clients. */
  answerShared(request: Request, address: string): Promise<Response>
  /** Announces a change of the view. */
  announceChange(change: Change): void
  /** Ends all streams, so that the process can exit. Clients reconnect automatically. */
  close(): void
}

/** Dependencies of the stream. `everyMs` is the shortest time between two batches of events. */
type LiveSource = {
  readonly log: Log
  readonly clock: Clock
  readonly readNumber: () => LogNumber // of the newest announced change
  readonly readCanvasNumber: () => LogNumber // of the newest change that the canvas reads show
  readonly applyNewEntries: () => Promise<void> // announces the changes that other processes have written
  readonly everyMs: number
}

const FOLLOWERS_MAX = 10_000

/** How many changes a client can be behind and still get every one instead of a `reset`. */
export const BEHIND_MAX = 1000

// A client with more unread bytes is disconnected, and catches up when it reconnects. The kernel buffers 128 KiB in
// addition (`unread-limits.ts`).
const BACKLOG_MAX_BYTES = 96 * 1024

const HEARTBEAT_MS = 15_000

// A cache opens a new stream after 40 s (`CACHED_FOR_A_STREAM`), so it has at most two open. A stream lasts long enough
// that even a cache that serves stale copies for 10 s never serves one that has ended.
const SHARED_MS = 55_000

// A shared stream begins with the changes of the last `OVERLAP_MS`, and at most `OVERLAP_MAX` changes, so that most
// clients that come from the previous stream have missed nothing.
const OVERLAP_MS = 5000
const OVERLAP_MAX = 100

const encoder = new TextEncoder()
const RETRY = encoder.encode('retry: 2000\n\n')
const HEARTBEAT = encoder.encode(': still here\n\n')

type Follower = {
  sentTo: LogNumber
  readonly send: (bytes: Uint8Array) => void
  readonly end: () => void
  readonly disconnect: () => void // does not end the response properly, so that no cache keeps it
}

/** Makes the live stream of this process. */
export function createLiveStream(source: LiveSource): Live {
  const { log, clock, readNumber, readCanvasNumber, applyNewEntries } = source
  const places = createStreamPlaces()
  const recent = createRecentEvents(log)
  const { join, notify, close, isClosed } = createFollowers(source, recent)
  const shared = createSharedStreams(source, recent, join)

  /** The events that a client missed, until it has caught up. */
  async function* readMissed(from: LogNumber): AsyncGenerator<Piece> {
    let at = from
    if (from > readNumber() || readNumber() - from > BEHIND_MAX) {
      at = readCanvasNumber()
      yield createReset(at)
    }
    for (;;) {
      const piece = await recent.readPiece(at, readNumber())
      if (piece === undefined) return
      yield piece
      at = piece.to
    }
  }
  async function* readMissedSince(start: LogNumber): AsyncGenerator<Piece> {
    yield { bytes: encodeMark({ kind: 'start', number: start }), to: start }
    yield* readMissed(start)
  }
  const openFor = (from: LogNumber, address: string, missing = readMissed(from), joining: Host['join'] = join) => {
    return openStream(from, missing, { join: joining, onClosed: places.take(address), isShared: joining !== join })
  }
  const findRefusal = (address: string) => (isClosed() ? createBusyFailure() : places.refuseStream(address))
  /** Responds once the changes of other processes are announced; refuses if no stream slot is left by then. */
  const respondAfterAdvance = async (address: string, respond: () => Response): Promise<Response> => {
    await applyNewEntries()
    const refusal = findRefusal(address)
    return refusal === undefined ? respond() : refuse(refusal)
  }
  return {
    answer(request, address) {
      const refusal = findRefusal(address)
      if (refusal !== undefined) return refuse(refusal)
      if (request.method === 'HEAD') return respondEvents(null)
      const from = parseStart(request) ?? readNumber()
      if (isFailure(from)) return refuse(from)
      const respondFrom = () => respondEvents(openFor(from, address))
      // The client may have been connected to another process that is ahead of this one in following the log.
      return from > readNumber() ? respondAfterAdvance(address, respondFrom) : respondFrom()
    },
    async answerShared(request, address) {
      const refusal = findRefusal(address)
      if (refusal !== undefined) return refuse(refusal)
      if (request.method === 'HEAD') return respondEvents(null, CACHED_FOR_A_STREAM)
      return await respondAfterAdvance(address, () => {
        const start = Math.max(
          recent.findNumberAt(clock.now() - OVERLAP_MS) ?? readNumber(),
          readNumber() - OVERLAP_MAX,
        )
        return respondEvents(openFor(start, address, readMissedSince(start), shared.createJoin()), CACHED_FOR_A_STREAM)
      })
    },
    announceChange(change) {
      recent.addChange(change)
      // Otherwise, a cache would keep sending the hidden content that the streams have already sent.
      if (hidesEarlier(change)) shared.breakOff()
      notify()
    },
    close() {
      shared.breakOff()
      close()
    },
  }
}

/** Counts open streams, including those of clients still catching up, in total, per address and per IPv6 site. */
function createStreamPlaces() {
  const [streams, sites] = [createSlots(), createSlots()]
  return {
    /** Why an address cannot open another stream; `undefined` if it can. */
    refuseStream(address: string): Failure | undefined {
      if (streams.count() >= FOLLOWERS_MAX) return createBusyFailure()
      if (streams.countTakenBy(address) >= STREAMS_PER_ADDRESS)
        return createTooManyFailure('You have', STREAMS_PER_ADDRESS)
      return sites.countTakenBy(toSite(address)) >= STREAMS_PER_SITE
        ? createTooManyFailure('Your network has', STREAMS_PER_SITE)
        : undefined
    },
    /** Takes a slot for a stream. The returned function releases it. */
    take(address: string) {
      const leave = [streams.take(address), sites.take(toSite(address))]
      return () => leave.forEach((each) => each())
    },
  }
}

/**
 * The clients that have caught up. They get new events together, and from time to time a comment that keeps the
 * connection open.
 */
function createFollowers({ clock, readNumber, everyMs }: LiveSource, recent: RecentEvents) {
  const followers = new Set<Follower>()
  const stopped = new AbortController()
  let flushing: Promise<void> | undefined
  let lastSentAt = clock.elapsed()

  const sendToAll = (bytesFor: (follower: Follower) => Uint8Array) => {
    for (const follower of followers) {
      const bytes = bytesFor(follower)
      if (bytes.length > 0) follower.send(bytes)
    }
    lastSentAt = clock.elapsed()
  }
  const flush = async () => {
    await clock.wait(everyMs, stopped.signal)
    flushing = undefined
    sendToAll((follower) => {
      const bytes = recent.encodeAfter(follower.sentTo)
      follower.sentTo = readNumber()
      return bytes
    })
  }
  const sendHeartbeats = async () => {
    while (!stopped.signal.aborted) {
      await clock.wait(HEARTBEAT_MS, stopped.signal)
      if (clock.elapsed() - lastSentAt >= HEARTBEAT_MS) sendToAll(() => HEARTBEAT)
    }
  }
  void sendHeartbeats()
  return {
    join(follower: Follower) {
      followers.add(follower)
      if (readNumber() > follower.sentTo) flushing ??= flush()
      // This follower was still catching up when the streams of all others were closed.
      if (stopped.signal.aborted) queueMicrotask(follower.end)
      return () => void followers.delete(follower)
    },
    notify() {
      if (followers.size > 0) flushing ??= flush()
    },
    close() {
      stopped.abort()
      for (const follower of followers) follower.end()
    },
    isClosed: () => stopped.signal.aborted,
  }
}

/**
 * The followers whose streams a cache shares. Each stream is ended after `SHARED_MS`, and all are broken off when
 * something is hidden.
 */
function createSharedStreams(
  { clock, applyNewEntries, readNumber }: LiveSource,
  recent: RecentEvents,
  join: Host['join'],
) {
  const followers = new Set<Follower>()
  let breaks = 0

  const endAfterDelay = async (follower: Follower, left: AbortSignal) => {
    await clock.wait(SHARED_MS, left)
    // If the store is unavailable, the stream ends with the changes known so far.
    if (!left.aborted) await applyNewEntries().catch(() => {})
    if (left.aborted) return
    const end = encodeMark({ kind: 'end', number: readNumber() })
    follower.send(Buffer.concat([recent.encodeAfter(follower.sentTo), end]))
    // If the cache had left too much unread, `send` has already broken the stream off.
    if (!left.aborted) follower.end()
  }
  return {
    /** Makes the `join` function for a stream that begins now. */
    createJoin(): Host['join'] {
      const breaksBefore = breaks
      return (follower) => {
        const leave = join(follower)
        const left = new AbortController()
        followers.add(follower)
        void endAfterDelay(follower, left.signal)
        // Something was hidden while this follower was still catching up.
        if (breaks > breaksBefore) queueMicrotask(follower.disconnect)
        return () => {
          leave()
          left.abort()
          followers.delete(follower)
        }
      }
    },
    breakOff() {
      breaks += 1
      for (const follower of followers) follower.disconnect()
    },
  }
}

/**
 * The host of a stream: `join` is called when the stream has caught up, and `onClosed` once when it ends for any
 * reason. A cache keeps a shared stream that ends, but not one that breaks off.
 */
type Host = { join(follower: Follower): () => void; onClosed(): void; readonly isShared: boolean }

/** The stream of one client: missed events at its own pace, then new events. */
function openStream(from: LogNumber, reading: AsyncGenerator<Piece>, { join, onClosed: closed, isShared }: Host) {
  let sentTo = from
  let leave: (() => void) | undefined
  let isOver = false
  const endStream = () => {
    if (isOver) return
    isOver = true
    leave?.()
    closed()
  }
  const addFollower = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const end = () => {
      endStream()
      controller.close()
    }
    const breakOff = () => {
      endStream()
      // No reason is given, because Bun would print it.
      controller.error()
    }
    const drop = isShared ? breakOff : end
    const send = (bytes: Uint8Array) => {
      if ((controller.desiredSize ?? 0) < -BACKLOG_MAX_BYTES) drop()
      else controller.enqueue(bytes)
    }
    leave = join({ sentTo, send, end, disconnect: breakOff })
  }
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(RETRY),
      async pull(controller) {
        if (leave !== undefined) return
        const step = await reading.next().catch((error: unknown) => {
          endStream()
          throw error
        })
        if (isOver) return
        if (step.done === true) return addFollower(controller)
        sentTo = step.value.to
        controller.enqueue(step.value.bytes)
      },
      cancel: endStream,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 1 }),
  )
}

/** The event that requires a client to read the canvas again. Later changes follow as events. */
function createReset(number: LogNumber): Piece {
  const reset: Reset = { number, kind: 'reset' }
  return { bytes: encoder.encode(formatEvent(reset, number)), to: number }
}

const encodeMark = (mark: Mark): Uint8Array => encoder.encode(formatEvent(mark))

const readQuery = createParamsReader(LiveQuery)

/**
 * The number after which a client continues; `undefined` for a client that starts now. Last-Event-ID takes precedence,
 * because a reconnecting browser repeats the query of its first request.
 */
function parseStart({ headers, url }: Request): LogNumber | Failure | undefined {
  const header = headers.get('last-event-id')
  if (header !== null && header !== '') return readInteger(header) ?? createStartFailure()
  const query = readQuery(url)
  return isFailure(query) ? query : query.after
}

const createStartFailure = () =>
  createFailure(
    'invalid_after',
    'Last-Event-ID must be the id of an event of this stream. Omit it to get only new changes.',
  )

const createTooManyFailure = (whoHas: string, count: number) =>
  createFailure('too_many_requests', `${whoHas} ${count} live streams open. Close some, or poll GET /api/feed.`, {
    retryAfter: 60,
  })

const createBusyFailure = () =>
  createFailure('server_busy', 'Too many clients follow the wall. Poll GET /api/feed, or try again in a minute.', {
    retryAfter: 60,
  })
