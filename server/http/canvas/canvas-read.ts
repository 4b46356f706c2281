/** The published reads of the whole wall: as JSON, the pixels alone, and everything except the pixels. */

import type { Change, LogNumber } from '../../domain/wall/log.ts'
import type { WallView } from '../../domain/wall/wall-view.ts'
import type { Clock } from '../../ports.ts'
import { createCanvasParts, createPixelParts, type Priced } from './canvas-parts.ts'
import { createCanvasSnapshot, type CanvasSnapshot } from './canvas-snapshot.ts'

/** Dependencies of the reads. `everyMs` is the shortest time between two publications. */
export type CanvasSource = {
  readonly view: WallView
  readonly terms: Priced
  readonly clock: Clock
  readonly everyMs: number
}

/**
 * The published wall: `canvas` is `GET /api/canvas`, `pixels` is `GET /api/canvas.bin`, `blocks` is `GET /api/blocks`.
 */
export type CanvasReads = {
  readonly canvas: CanvasSnapshot
  readonly pixels: CanvasSnapshot
  readonly blocks: CanvasSnapshot
  /** The number of the newest change that all reads show. */
  readNumber(): LogNumber
  /** Announces a change of the view to all reads. */
  announceChange(change: Change): void
  /** Resolves when all reads show every announced change. */
  waitUntilPublished(): Promise<void>
}

/**
 * Builds the reads from a view. From then on they follow `announceChange`. Only the canvas read is built immediately.
 * Building the other two would take a twelfth of the main thread's startup time, so each is built when it is first
 * requested, or by `waitUntilPublished`.
 */
export function createCanvasReads({ view, terms, clock, everyMs }: CanvasSource): CanvasReads {
  const read = (parts: Parameters<typeof createCanvasSnapshot>[0]['parts'], type: string, hasBrotli = false) =>
    createCanvasSnapshot({ view, parts, type, clock, everyMs, hasBrotli })
  const canvas = read(createCanvasParts(view, terms), 'application/json')
  const pixels = deferBuild(view, () => read(createPixelParts(view), 'application/octet-stream'))
  // Compared with gzip of the parts, Brotli makes text up to 40 % smaller, but pictures only 3 %.
  const blocks = deferBuild(view, () => read(createCanvasParts(view, terms, false), 'application/json', true))
  const all = [canvas, pixels, blocks]
  return {
    canvas,
    pixels,
    blocks,
    readNumber: () => Math.min(...all.map((one) => one.readNumber())),
    announceChange: (change) => all.forEach((one) => one.announceChange(change)),
    async waitUntilPublished() {
      for (const one of all) await one.waitUntilPublished()
    },
  }
}

/** A read that is built from the view when it is first needed. */
function deferBuild(view: WallView, build: () => CanvasSnapshot): CanvasSnapshot {
  let built: CanvasSnapshot | undefined
  const buildOnce = () => (built ??= build())
  return {
    answer: (request) => buildOnce().answer(request),
    readNumber: () => built?.readNumber() ?? view.number,
    announceChange: (change) => built?.announceChange(change),
    waitUntilPublished: () => buildOnce().waitUntilPublished(),
  }
}
