/** Route `/api/live`: changes as server-sent events. */

import { Elysia } from 'elysia'
import { LiveQuery, type Reset } from '../../shared/contract/live.ts'
import { documented, type OperationDocs } from '../discovery/openapi/operation.ts'
import { failure, isFailure, type Failure } from '../domain/failure.ts'
import type { Change, LogNumber } from '../domain/wall/log.ts'
import type { Clock, Log } from '../ports.ts'
import { STREAMS_PER_ADDRESS, STREAMS_PER_SITE } from '../wall/rate-limits.ts'
import { refuse } from './answer/refuse.ts'
import { respondEvents } from './answer/respond.ts'
import { type Piece, recentEvents, type RecentEvents } from './live/recent-events.ts'
import { type Clients, refuseBeyond, siteOf, slots } from './request/clients.ts'
import { paramsReader, readInteger } from './request/query.ts'

type LiveDeps = { readonly live: Live; readonly clients: Clients }

export const live = ({ live: stream, clients }: LiveDeps) =>
  new Elysia({ name: 'live' }).get(
    '/api/live',
    async ({ request }) =>
      refuseBeyond(clients, 'streams', request) ?? (await stream.answer(request, clients.addressOf(request))),
    documented(DOCS.followWall),
  )

const DOCS = {
  followWall: {
    id: 'followWall',
    summary: 'Follow every change as it happens',
    description:
      'Server-sent events: `sale`, `repaint` and `identity`, at most one batch per second. The id of an event is its number in the log; reconnect with it in Last-Event-ID and you miss nothing and see nothing twice. To start, read the canvas and pass its Log-Number as `after`. A client more than 1,000 changes behind gets `reset` first: read `/api/canvas` again, which shows everything up to that number; later changes follow. The texts are untrusted: other users wrote them.',
    query: LiveQuery,
    answers: [],
    media: 'text/event-stream',
    codes: ['invalid_after', 'server_busy', 'too_many_requests', 'internal_error'],
  },
} satisfies Record<string, OperationDocs>

/** All clients that follow the wall. */
export type Live = {
  /** Begins a stream for the client at an address. */
  answer(request: Request, address: string): Response | Promise<Response>
  /** Announces a change of the view. */
  changed(change: Change): void
  /** Ends all connections, so that the process can end. Clients reconnect by themselves. */
  close(): void
}

/** Dependencies of the stream. `everyMs` is the shortest time between two batches of events. */
type LiveSource = {
  readonly log: Log
  readonly clock: Clock
  readonly number: () => LogNumber // of the newest announced change
  readonly canvasNumber: () => LogNumber // of the newest change that the canvas reads show
  readonly advance: () => Promise<void> // announces what other processes have written
  readonly everyMs: number
}

const FOLLOWERS_MAX = 10_000

/** How many changes a client may be behind and still get each of them. */
export const BEHIND_MAX = 1000

// A client with more unread bytes is disconnected, and catches up when it returns. The kernel holds about as many besides
// (`unread-limits.ts`).
const BACKLOG_MAX_BYTES = 128 * 1024

const HEARTBEAT_MS = 15_000

const encoder = new TextEncoder()
const RETRY = encoder.encode('retry: 2000\n\n')
const HEARTBEAT = encoder.encode(': still here\n\n')

type Follower = {
  sentTo: LogNumber
  readonly send: (bytes: Uint8Array) => void
  readonly end: () => void
}

/** Makes the live stream of this process. */
export function liveStream(source: LiveSource): Live {
  const { log, number, canvasNumber, advance } = source
  // All streams count, also those of clients that still catch up.
  const streams = slots()
  const sites = slots()
  const recent = recentEvents(log)
  const { join, tell, close, isClosed } = followersOf(source, recent)

  /** The events that a client missed, until it has caught up. */
  async function* missed(from: LogNumber): AsyncGenerator<Piece> {
    let at = from
    if (from > number() || number() - from > BEHIND_MAX) {
      at = canvasNumber()
      yield resetTo(at)
    }
    for (;;) {
      const piece = await recent.piece(at, number())
      if (piece === undefined) return
      yield piece
      at = piece.to
    }
  }
  const open = (from: LogNumber, address: string) => {
    const leave = [streams.take(address), sites.take(siteOf(address))]
    const closed = () => leave.forEach((each) => each())
    return respondEvents(follow(from, missed(from), { join, closed }))
  }
  return {
    answer(request, address) {
      if (isClosed() || streams.count() >= FOLLOWERS_MAX) return refuse(tooMany())
      if (streams.of(address) >= STREAMS_PER_ADDRESS) return refuse(tooManyOf('You have', STREAMS_PER_ADDRESS))
      if (sites.of(siteOf(address)) >= STREAMS_PER_SITE) return refuse(tooManyOf('Your network has', STREAMS_PER_SITE))
      if (request.method === 'HEAD') return respondEvents(null)
      const from = startOf(request) ?? number()
      if (isFailure(from)) return refuse(from)
      // A client may come from another process that was faster to follow the log.
      return from > number() ? advance().then(() => open(from, address)) : open(from, address)
    },
    changed(change) {
      recent.remember(change)
      tell()
    },
    close,
  }
}

/** The clients that have caught up. They get new events together, and a comment from time to time that keeps the connection open. */
function followersOf({ clock, number, everyMs }: LiveSource, recent: RecentEvents) {
  const followers = new Set<Follower>()
  const stopped = new AbortController()
  let flushing: Promise<void> | undefined
  let lastSentAt = clock.elapsed()

  const tellAll = (bytesFor: (follower: Follower) => Uint8Array) => {
    for (const follower of followers) {
      const bytes = bytesFor(follower)
      if (bytes.length > 0) follower.send(bytes)
    }
    lastSentAt = clock.elapsed()
  }
  const flush = async () => {
    await clock.wait(everyMs, stopped.signal)
    flushing = undefined
    tellAll((follower) => {
      const bytes = recent.after(follower.sentTo)
      follower.sentTo = number()
      return bytes
    })
  }
  const beat = async () => {
    while (!stopped.signal.aborted) {
      await clock.wait(HEARTBEAT_MS, stopped.signal)
      if (clock.elapsed() - lastSentAt >= HEARTBEAT_MS) tellAll(() => HEARTBEAT)
    }
  }
  void beat()
  return {
    join(follower: Follower) {
      followers.add(follower)
      if (number() > follower.sentTo) flushing ??= flush()
      // It was still catching up when all others were closed.
      if (stopped.signal.aborted) queueMicrotask(follower.end)
      return () => void followers.delete(follower)
    },
    tell() {
      if (followers.size > 0) flushing ??= flush()
    },
    close() {
      stopped.abort()
      for (const follower of followers) follower.end()
    },
    isClosed: () => stopped.signal.aborted,
  }
}

/** Callbacks of a stream: `join` when it has caught up, and `closed` once when it ends, for any reason. */
type Host = { join(follower: Follower): () => void; closed(): void }

/** The stream of one client: missed events at its own pace, then new events. */
function follow(from: LogNumber, reading: AsyncGenerator<Piece>, { join, closed }: Host) {
  let sentTo = from
  let leave: (() => void) | undefined
  let isOver = false
  const over = () => {
    if (isOver) return
    isOver = true
    leave?.()
    closed()
  }
  const becomeFollower = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const end = () => {
      over()
      controller.close()
    }
    const send = (bytes: Uint8Array) => {
      if ((controller.desiredSize ?? 0) < -BACKLOG_MAX_BYTES) end()
      else controller.enqueue(bytes)
    }
    leave = join({ sentTo, send, end })
  }
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(RETRY),
      async pull(controller) {
        if (leave !== undefined) return
        const step = await reading.next().catch((error: unknown) => {
          over()
          throw error
        })
        if (isOver) return
        if (step.done === true) return becomeFollower(controller)
        sentTo = step.value.to
        controller.enqueue(step.value.bytes)
      },
      cancel: over,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 1 }),
  )
}

/** The event after which a client must read the canvas anew. Later events follow it. */
function resetTo(number: LogNumber): Piece {
  const reset: Reset = { number, kind: 'reset' }
  return { bytes: encoder.encode(`id: ${number}\nevent: reset\ndata: ${JSON.stringify(reset)}\n\n`), to: number }
}

const readQuery = paramsReader(LiveQuery)

/** The number after which a client goes on; `undefined` for one that starts now. A browser that reconnects keeps its first query. */
function startOf({ headers, url }: Request): LogNumber | Failure | undefined {
  const header = headers.get('last-event-id')
  if (header !== null && header !== '') return readInteger(header) ?? badStart()
  const query = readQuery(url)
  return isFailure(query) ? query : query.after
}

const badStart = () =>
  failure('invalid_after', 'Last-Event-ID must be the id of an event of this stream. Omit it to start from now.')

const tooManyOf = (whoHas: string, count: number) =>
  failure('too_many_requests', `${whoHas} ${count} live streams open. Close some, or poll GET /api/feed.`, {
    retryAfter: 60,
  })

const tooMany = () =>
  failure('server_busy', 'Too many clients follow the wall. Poll GET /api/feed, or try again in a minute.', {
    retryAfter: 60,
  })
