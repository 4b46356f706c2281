/**
 * A read of the whole wall that is ready before it is asked for: parts that are made and compressed on their own, and
 * published together. A change costs the parts it touches; a request costs nothing.
 */

import type { Change, LogNumber } from '../../domain/wall/log.ts'
import type { WallView } from '../../domain/wall/wall-view.ts'
import type { Clock } from '../../ports.ts'
import { copyOf, held, release, type CachedResponse } from '../answer/cached-response.ts'
import { KEPT_BRIEFLY, respond, respondUnchanged, type HeaderFields } from '../answer/respond.ts'
import { holdsAlready, preferredEncoding, type Encoding } from '../request/negotiate.ts'
import {
  gzipBody,
  joined,
  plainBody,
  segmentOf,
  summed,
  sumOf,
  zstdBody,
  type Pieces,
  type Segment,
  type Summed,
} from './precompressed-body.ts'

/** A part's place in the body, and what stands there. */
export type Part = readonly [slot: number, content: Uint8Array]

/** A body in parts that change apart. */
export type Parts = {
  /** Notes which parts a change of the view touches. */
  mark(change: Change): void
  isDirty(): boolean
  /** The parts that were touched since they were last taken, in the order of the body; all of them the first time. */
  take(): readonly Part[]
}

/** A published read. */
export type CanvasSnapshot = {
  readonly answer: CachedResponse
  /** Number of the newest change that it shows. */
  number(): LogNumber
  /** Tells of a change that the view has; the read follows. */
  changed(change: Change): void
  /** Resolves when the read shows everything that was told, in every encoding. */
  published(): Promise<void>
}

/** What a read is made of; `everyMs` is the least time between two publications. */
export type ReadSource = {
  readonly view: WallView
  readonly parts: Parts
  readonly type: string // media type
  readonly clock: Clock
  readonly everyMs: number
}

// How long the process may be kept from other work at a stretch.
const SLICE_MS = 2

// Where a wall is repainted all over, making it anew takes a tenth of a second, and readers miss that; so it rests longer
// after more work, within what a reader may wait.
const RESTS = 19
const REST_MAX_MS = 2000

/** Builds the read from a view as it is; from then on it follows `changed`. */
export function canvasSnapshot({ view, parts, type, clock, everyMs }: ReadSource): CanvasSnapshot {
  const segments: Segment[] = []
  let nextAt = Number.NEGATIVE_INFINITY

  // All parts are taken in one go, so that a published wall is one that was. Compressing them may take several turns.
  const take = () => ({
    taken: parts.take().map(([slot, content]) => [slot, summed(content)] as const),
    number: view.number,
  })
  const show = async ({ taken, number }: ReturnType<typeof take>) => {
    await compress(taken, segments, clock)
    const bodies = { plain: plainBody(segments), gzip: gzipBody(segments), zstd: zstdBody(segments) }
    const etag = tagOf(number, segments)
    // In one turn, so that nobody asks in between; the new bodies find the memory of the old ones.
    shown.release()
    shown = answerFrom(type, bodies, etag)
    shownNumber = number
  }
  const publish = async () => {
    while (parts.isDirty()) {
      const earlyMs = nextAt - clock.elapsed()
      if (earlyMs > 0) await clock.wait(earlyMs)
      const startedAt = clock.elapsed()
      await show(take())
      const endedAt = clock.elapsed()
      nextAt = endedAt + Math.max(everyMs, Math.min(RESTS * (endedAt - startedAt), REST_MAX_MS))
    }
    publishing = undefined
  }

  const first = take()
  // The first readers need not wait for the compression.
  const uncompressed = first.taken.map(([, part]) => part)
  let shown = answerFrom(type, { plain: plainBody(uncompressed) }, tagOf(first.number, uncompressed))
  let shownNumber = first.number
  let publishing: Promise<void> | undefined = show(first).then(publish)

  return {
    answer: (request) => shown.answer(request),
    number: () => shownNumber,
    changed(change) {
      parts.mark(change)
      // Changes that come together are published together.
      publishing ??= Promise.resolve().then(publish)
    },
    async published() {
      while (publishing !== undefined) await publishing
    },
  }
}

/**
 * Names a state of the wall: the log's number, so that every process on one store validates what another sent, and a sum of
 * the body, because another store behind the same address, or another version of this program, has the same numbers.
 */
function tagOf(number: LogNumber, body: readonly Summed[]): string {
  const { crc, length } = sumOf(body)
  return `W/"${number}-${crc.toString(36)}-${length.toString(36)}"`
}

/** Compresses parts into their places, letting other work in between. */
async function compress(
  parts: ReadonlyArray<readonly [slot: number, part: Summed]>,
  segments: Segment[],
  clock: Clock,
): Promise<void> {
  let since = clock.elapsed()
  for (const [slot, part] of parts) {
    segments[slot] = segmentOf(part)
    if (clock.elapsed() - since < SLICE_MS) continue
    await nextTurn()
    since = clock.elapsed()
  }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A state of the wall, ready to be sent. */
type Shown = { readonly answer: CachedResponse; release(): void }

type Bodies = { readonly plain: Pieces } & { readonly [E in Encoding]?: Pieces }

/** One ready answer for each encoding there is, copied for each request. */
function answerFrom(type: string, bodies: Bodies, etag: string): Shown {
  const headers = {
    ETag: etag,
    'Cache-Control': KEPT_BRIEFLY,
    Vary: 'Accept-Encoding',
  }
  const ready = (body: Pieces | undefined, encoding: HeaderFields) =>
    body === undefined ? undefined : held(respond(200, type, joined(body), { ...headers, ...encoding }))
  const plain = held(respond(200, type, joined(bodies.plain), headers))
  const unchanged = respondUnchanged(headers)
  const encoded = {
    gzip: ready(bodies.gzip, { 'Content-Encoding': 'gzip' }),
    zstd: ready(bodies.zstd, { 'Content-Encoding': 'zstd' }),
  }
  return {
    answer(request) {
      if (holdsAlready(request.headers.get('if-none-match'), etag)) return copyOf(unchanged)
      const encoding = preferredEncoding(request.headers.get('accept-encoding'))
      const chosen = encoding === undefined ? plain : (encoded[encoding] ?? plain)
      return copyOf(chosen)
    },
    release() {
      for (const response of [plain, encoded.gzip, encoded.zstd]) release(response)
    },
  }
}
