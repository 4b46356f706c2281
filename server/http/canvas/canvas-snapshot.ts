/**
 * A read of the whole wall that is built before it is requested. Its parts are made and compressed separately and
 * published together. A change therefore costs only the work on the parts that it touches, and a request costs only a
 * clone of the response.
 */

import type { Change, LogNumber } from '../../domain/wall/log.ts'
import type { WallView } from '../../domain/wall/wall-view.ts'
import type { Clock } from '../../ports.ts'
import { cloneResponse, retainBody, releaseBody, type CachedResponse } from '../answer/cached-response.ts'
import {
  createBrotliBody,
  joinGzip,
  joinPieces,
  joinPlain,
  createSegment,
  combineChecksums,
  joinZstd,
  type Pieces,
  type Segment,
} from '../answer/precompressed-body.ts'
import { CACHED_BRIEFLY, LOG_NUMBER, respond, respondUnchanged, type HeaderFields } from '../answer/respond.ts'
import { matchesEtag, chooseEncoding, type Encoding } from '../request/negotiate.ts'

/** The position of a part in the body, and its bytes. */
export type Part = readonly [slot: number, content: Uint8Array<ArrayBuffer>]

/** A body in parts that change independently. */
export type Parts = {
  /** Marks the parts that a change of the view touches. */
  markChanged(change: Change): void
  isDirty(): boolean
  /** Takes the parts marked since the previous call, in the order of the body. The first call takes all parts. */
  take(): readonly Part[]
}

/** A published read. */
export type CanvasSnapshot = {
  readonly answer: CachedResponse
  /** Number of the newest change that the read shows. */
  readNumber(): LogNumber
  /** Announces a change of the view. */
  announceChange(change: Change): void
  /** Resolves when the read shows every announced change, in every encoding. */
  waitUntilPublished(): Promise<void>
}

/** Dependencies of a read. `everyMs` is the shortest time between two publications. */
export type ReadSource = {
  readonly view: WallView
  readonly parts: Parts
  readonly type: string // media type
  readonly clock: Clock
  readonly everyMs: number
  readonly hasBrotli?: boolean // whether Brotli is also offered
}

// When the whole wall is repainted, building the read takes a tenth of a second of CPU time. So the pause before the
// next publication grows with the work, up to the time that a reader may wait.
const RESTS = 19
const REST_MAX_MS = 2000

/** Builds the read from a view. From then on it follows `announceChange`. */
export function createCanvasSnapshot({
  view,
  parts,
  type,
  clock,
  everyMs,
  hasBrotli = false,
}: ReadSource): CanvasSnapshot {
  const segments: Segment[] = []
  let nextAt = Number.NEGATIVE_INFINITY

  // All parts are taken in one turn of the event loop, so that each published state existed on the wall.
  const takeParts = () => ({ taken: parts.take(), number: view.number })
  const publishParts = async ({ taken, number }: ReturnType<typeof takeParts>) => {
    // Parts are compressed one after another, so that the thread pool has time for other work.
    for (const [slot, part] of taken) segments[slot] = await createSegment(part)
    const bodies = { plain: joinPlain(segments), gzip: joinGzip(segments), zstd: joinZstd(segments) }
    const version = computeVersion(number, bodies.plain)
    if (hasBrotli && version.ETag !== shownTag) brotli = createBrotliBody(bodies.plain)
    // The read is replaced in one turn of the event loop, so that no request comes in between. The new bodies reuse the
    // memory of the old ones.
    shown.release()
    shown = createPublishedState(type, { ...bodies, brotli }, version)
    shownNumber = number
    shownTag = version.ETag
  }
  const publish = async () => {
    while (parts.isDirty()) {
      const earlyMs = nextAt - clock.elapsed()
      if (earlyMs > 0) await clock.wait(earlyMs)
      const startedAt = clock.elapsed()
      await publishParts(takeParts())
      const endedAt = clock.elapsed()
      nextAt = endedAt + Math.max(everyMs, Math.min(RESTS * (endedAt - startedAt), REST_MAX_MS))
    }
    publishing = undefined
  }

  const first = takeParts()
  // The first readers get the plain body and do not wait for compression.
  const uncompressed = first.taken.map(([, part]) => part)
  let shown = createPublishedState(type, { plain: uncompressed }, computeVersion(first.number, uncompressed))
  let shownNumber = first.number
  let shownTag = ''
  let brotli: (() => Blob | undefined) | undefined // of the body tagged `shownTag`
  let publishing: Promise<void> | undefined = publishParts(first).then(publish)

  return {
    answer: (request) => shown.answer(request),
    readNumber: () => shownNumber,
    announceChange(change) {
      parts.markChanged(change)
      // Changes within one interval are published together.
      publishing ??= Promise.resolve().then(publish)
    },
    async waitUntilPublished() {
      while (publishing !== undefined) await publishing
    },
  }
}

/**
 * The headers that identify a state of the wall: its log number, and an ETag. The tag depends only on the bytes, so
 * that a client does not download the same bytes again after a change that does not affect them.
 */
function computeVersion(number: LogNumber, body: Pieces) {
  const { crc, length } = combineChecksums(body)
  return { ETag: `W/"${crc.toString(36)}-${length.toString(36)}"`, [LOG_NUMBER]: `${number}` }
}

/** A published state of the wall. */
type Shown = { readonly answer: CachedResponse; release(): void }

/** A body in each encoding. `brotli` returns nothing until that encoding is ready. */
type Bodies = {
  readonly plain: Pieces
  readonly gzip?: Pieces
  readonly zstd?: Pieces
  readonly brotli?: (() => Blob | undefined) | undefined
}

const ENCODINGS: readonly Encoding[] = ['gzip', 'zstd']
const WITH_BROTLI: readonly Encoding[] = ['br', ...ENCODINGS]

/** One response for each encoding, cloned for each request. */
function createPublishedState(type: string, bodies: Bodies, version: ReturnType<typeof computeVersion>): Shown {
  const headers = { ...version, 'Cache-Control': CACHED_BRIEFLY, Vary: 'Accept-Encoding' }
  const createReadyBody = (body: Blob | undefined, encoding: HeaderFields) =>
    body === undefined ? undefined : retainBody(respond(200, type, body, { ...headers, ...encoding }))
  const createPiecedBody = (body: Pieces | undefined, encoding: Encoding) =>
    body === undefined ? undefined : createReadyBody(joinPieces(body), { 'Content-Encoding': encoding })
  const plain = retainBody(respond(200, type, joinPieces(bodies.plain), headers))
  const unchanged = respondUnchanged(headers)
  const encoded: { [E in Encoding]?: Response | undefined } = {
    gzip: createPiecedBody(bodies.gzip, 'gzip'),
    zstd: createPiecedBody(bodies.zstd, 'zstd'),
  }
  const offered = bodies.brotli === undefined ? ENCODINGS : WITH_BROTLI
  const isBrotliReady = () => {
    encoded.br ??= createReadyBody(bodies.brotli?.(), { 'Content-Encoding': 'br' })
    return encoded.br !== undefined
  }
  return {
    answer(request) {
      if (matchesEtag(request.headers.get('if-none-match'), version.ETag)) return cloneResponse(unchanged)
      const encoding = chooseEncoding(request.headers.get('accept-encoding'), offered, isBrotliReady)
      return cloneResponse((encoding && encoded[encoding]) ?? plain)
    },
    release() {
      for (const response of [plain, ...Object.values(encoded)]) releaseBody(response)
    },
  }
}
