/** Whether a picture is a photograph or drawn, by looking at it. */

import type { Raster } from '../../shared/resample.ts'

// So many pixels are looked at, spread over the picture.
const READ_ONLY = 4000

// Colours count as different once they differ in the upper four bits of a part.
const SHIFT = 4

// A drawing is made of flat patches of few colours; in a photograph hardly any pixel is like its neighbour.
const FLAT_SHARE = 0.6
const COLOURS_MIN = 64

/** Whether a picture has the many soft colours that only dithering keeps. */
export function isPhotograph({ width, height, rgba }: Raster): boolean {
  const colours = new Set<number>()
  const step = Math.max(1, Math.floor((width * height) / READ_ONLY))
  let looked = 0
  let flat = 0
  for (let at = 0; at < width * height - 1; at += step) {
    // The last pixel of a row has no neighbour.
    if (at % width === width - 1) continue
    looked++
    const [red, green, blue, alpha] = [0, 1, 2, 3].map((part) => rgba[at * 4 + part] ?? 0)
    if ([0, 1, 2, 3].every((part) => rgba[at * 4 + part] === rgba[at * 4 + 4 + part])) flat++
    if (alpha !== 0) colours.add((((red ?? 0) >> SHIFT) << 8) | (((green ?? 0) >> SHIFT) << 4) | ((blue ?? 0) >> SHIFT))
  }
  return colours.size >= COLOURS_MIN && flat < looked * FLAT_SHARE
}
