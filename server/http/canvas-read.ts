/** The two published reads: the canvas read in JSON, and its pixels alone in half the bytes. */

import type { Change } from '../domain/log.ts'
import type { WallView } from '../domain/wall-view.ts'
import type { Clock } from '../ports.ts'
import { canvasParts } from './canvas-parts.ts'
import { pixelParts } from './pixel-parts.ts'
import { publishedRead, type PublishedRead } from './published-read.ts'

/** What the reads are made of; `everyMs` is the least time between two publications. */
export type CanvasSource = {
  readonly view: WallView
  readonly network: string
  readonly clock: Clock
  readonly everyMs: number
}

/** The wall as published: `canvas` is `GET /api/canvas`, `pixels` is `GET /api/canvas.bin`. */
export type CanvasReads = {
  readonly canvas: PublishedRead
  readonly pixels: PublishedRead
  /** Tells both of a change that the view has. */
  changed(change: Change): void
  /** Resolves when both show everything that was told. */
  published(): Promise<void>
}

/** Builds the reads from a view as it is; from then on they follow `changed`. */
export function canvasReads({ view, network, clock, everyMs }: CanvasSource): CanvasReads {
  const read = (parts: Parameters<typeof publishedRead>[0]['parts'], type: string) =>
    publishedRead({ view, parts, type, clock, everyMs })
  const canvas = read(canvasParts(view, network), 'application/json')
  const pixels = read(pixelParts(view), 'application/octet-stream')
  return {
    canvas,
    pixels,
    changed(change) {
      canvas.changed(change)
      pixels.changed(change)
    },
    async published() {
      await canvas.published()
      await pixels.published()
    },
  }
}
