/** Small pictures the demo's agents paint. */

import { pixelsToHex, PIXELS_PER_BLOCK, trustPixels } from '../../shared/pixels.ts'
import { BLOCK_SIZE } from '../../shared/wall.ts'

/** A colour of the palette's cube; each level from 0 to 5. */
export const cube = (red: number, green: number, blue: number): number => 36 * red + 6 * green + blue

/** A picture drawn with characters, one a pixel; each names a palette index in `colours`. */
export function picture(rows: readonly string[], colours: Readonly<Record<string, number>>): string {
  return toHex((x, y) => colours[rows[y]?.[x] ?? ' '] ?? 0)
}

/** A soft two-colour slope from top left to bottom right. */
export function slope(from: readonly [number, number, number], to: readonly [number, number, number]): string {
  return toHex((x, y) => {
    const t = (x + y) / (2 * (BLOCK_SIZE - 1))
    const level = (axis: 0 | 1 | 2) => Math.round(from[axis] + (to[axis] - from[axis]) * t)
    return cube(level(0), level(1), level(2))
  })
}

function toHex(colourAt: (x: number, y: number) => number): string {
  const bytes = Uint8Array.from({ length: PIXELS_PER_BLOCK }, (_, i) =>
    colourAt(i % BLOCK_SIZE, Math.floor(i / BLOCK_SIZE)),
  )
  return pixelsToHex(trustPixels(bytes))
}
