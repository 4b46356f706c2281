/** Distinguishes photographs from drawings by their pixels. */

import type { Raster } from '../../shared/resample.ts'

// About this many pixels are sampled, spread over the picture.
const SAMPLES = 4000

// Each pixel is compared with others at this distance, a share of the shorter side: far enough to detect a gradient.
const REACH = 1 / 12

// Differences out of 255: below the first, two pixels have the same colour apart from compression artefacts; above the
// second, there is an edge between them.
const SAME = 3
const EDGE = 64

// Drawings are flat areas with edges between them; in photographs and gradients, at least this share of all pairs
// differ a little.
const SOFT_SHARE = 0.3

/** Whether a picture has soft gradients, which only dithering preserves. */
export function isPhotograph(raster: Raster): boolean {
  const { width, height } = raster
  const reach = Math.max(1, Math.round(Math.min(width, height) * REACH))
  const step = Math.max(1, Math.floor((width * height) / SAMPLES))
  let pairs = 0
  let soft = 0
  for (let at = 0; at < width * height; at += step) {
    const [x, y] = [at % width, Math.floor(at / width)]
    for (const other of [
      x + reach < width ? at + reach : undefined,
      y + reach < height ? at + reach * width : undefined,
    ]) {
      if (other === undefined) continue
      pairs++
      const apart = measureDifference(raster, at, other)
      if (apart >= SAME && apart <= EDGE) soft++
    }
  }
  return pairs > 0 && soft / pairs >= SOFT_SHARE
}

/** The difference between two pixels in the channel in which they differ most. */
const measureDifference = ({ rgba }: Raster, one: number, other: number): number =>
  Math.max(...[0, 1, 2, 3].map((part) => Math.abs((rgba[one * 4 + part] ?? 0) - (rgba[other * 4 + part] ?? 0))))
