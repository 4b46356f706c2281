/**
 * The canvas read, ready before it is asked for: parts that are serialised and compressed on their own, and published
 * together. A change costs its wall row, its group of agents and the counts; a request costs nothing.
 */

import type { Change } from '../domain/log.ts'
import type { WallView } from '../domain/wall-view.ts'
import type { Clock } from '../ports.ts'
import { canvasParts, type Part } from './canvas-parts.ts'
import { holdsAlready, preferredEncoding, type Encoding } from './negotiate.ts'
import type { ReadyAnswer } from './ready-answer.ts'
import { respond, respondEmpty } from './respond.ts'
import { gzipBody, plainBody, segmentOf, zstdBody, type Segment } from './segments.ts'

/** The canvas read of one wall. */
export type CanvasRead = {
  readonly answer: ReadyAnswer
  /** Tells of a change that the view has; the read follows. */
  changed(change: Change): void
  /** Resolves when the read shows everything that was told, in every encoding. */
  published(): Promise<void>
}

/** What the read is made of; `everyMs` is the least time between two publications. */
export type CanvasSource = {
  readonly view: WallView
  readonly network: string
  readonly clock: Clock
  readonly everyMs: number
}

// How long the process may be kept from other work at a stretch.
const SLICE_MS = 2

/** Builds the read from a view as it is; from then on it follows `changed`. */
export function canvasRead({ view, network, clock, everyMs }: CanvasSource): CanvasRead {
  const parts = canvasParts(view, network)
  const segments: Segment[] = []
  // Numbers of the log say nothing about another database, which may stand behind the same address after a restart.
  const boot = crypto.randomUUID().slice(0, 8)
  let lastAt = Number.NEGATIVE_INFINITY

  // All texts are taken in one go, so that a published wall is one that was. Compressing them may take several turns.
  const take = () => ({ texts: parts.take(), etag: `W/"${boot}-${view.number}"` })
  const show = async ({ texts, etag }: ReturnType<typeof take>) => {
    await compress(texts, segments, clock)
    answer = answerFrom({ plain: plainBody(segments), gzip: gzipBody(segments), zstd: zstdBody(segments) }, etag)
    lastAt = clock.elapsed()
  }
  const publish = async () => {
    while (parts.isDirty()) {
      const restMs = lastAt + everyMs - clock.elapsed()
      if (restMs > 0) await clock.wait(restMs)
      await show(take())
    }
    publishing = undefined
  }

  const first = take()
  // The first readers need not wait for the compression.
  const plain = new TextEncoder().encode(first.texts.map(([, text]) => text).join(''))
  let answer = answerFrom({ plain }, first.etag)
  let publishing: Promise<void> | undefined = show(first).then(publish)

  return {
    answer: (request) => answer(request),
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

/** Compresses texts into their places, letting other work in between. */
async function compress(texts: readonly Part[], segments: Segment[], clock: Clock): Promise<void> {
  let since = clock.elapsed()
  for (const [slot, text] of texts) {
    segments[slot] = segmentOf(text)
    if (clock.elapsed() - since < SLICE_MS) continue
    await nextTurn()
    since = clock.elapsed()
  }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

type Bodies = { readonly plain: Uint8Array<ArrayBuffer> } & { readonly [E in Encoding]?: Uint8Array<ArrayBuffer> }

/** One ready answer for each encoding there is, copied for each request. */
function answerFrom(bodies: Bodies, etag: string): ReadyAnswer {
  const headers = {
    ETag: etag,
    'Cache-Control': 'public, max-age=2, stale-while-revalidate=10',
    Vary: 'Accept-Encoding',
  }
  const ready = (body: Uint8Array<ArrayBuffer> | undefined, encoding: Record<string, string>) =>
    body === undefined ? undefined : respond(200, 'application/json', body, { ...headers, ...encoding })
  const plain = respond(200, 'application/json', bodies.plain, headers)
  const encoded = {
    gzip: ready(bodies.gzip, { 'Content-Encoding': 'gzip' }),
    zstd: ready(bodies.zstd, { 'Content-Encoding': 'zstd' }),
  }
  return (request) => {
    if (holdsAlready(request.headers.get('if-none-match'), etag)) return respondEmpty(304, headers)
    const encoding = preferredEncoding(request.headers.get('accept-encoding'))
    const chosen = encoding === undefined ? plain : (encoded[encoding] ?? plain)
    // Bun's types name the copy after another library's class.
    return chosen.clone() as Response
  }
}
