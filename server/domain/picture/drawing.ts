/** A picture under construction: rectangles and other pictures are put on it. */

import type { Bitmap } from './picture.ts'

/** A rectangle, in pixels. */
export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number }

/** A bitmap of one colour. */
export const bitmapOf = (width: number, height: number, colour: number): Bitmap => ({
  width,
  height,
  indices: new Uint8Array(width * height).fill(colour),
})

/** Fills a rectangle; what lies outside the bitmap is left out. */
export function fill(bitmap: Bitmap, { x, y, width, height }: Box, colour: number): void {
  const [left, right] = [Math.max(0, x), Math.min(bitmap.width, x + width)]
  for (let line = Math.max(0, y); line < Math.min(bitmap.height, y + height) && left < right; line++)
    bitmap.indices.fill(colour, line * bitmap.width + left, line * bitmap.width + right)
}

/** Draws a frame of `thick` pixels around a rectangle, outside it. */
export function frame(bitmap: Bitmap, { x, y, width, height }: Box, thick: number, colour: number): void {
  const wide = width + 2 * thick
  fill(bitmap, { x: x - thick, y: y - thick, width: wide, height: thick }, colour)
  fill(bitmap, { x: x - thick, y: y + height, width: wide, height: thick }, colour)
  fill(bitmap, { x: x - thick, y, width: thick, height }, colour)
  fill(bitmap, { x: x + width, y, width: thick, height }, colour)
}

/** Puts a whole picture on the bitmap, which must have room for it. */
export function place(bitmap: Bitmap, { width, height, indices }: Bitmap, x: number, y: number): void {
  for (let line = 0; line < height; line++)
    bitmap.indices.set(indices.subarray(line * width, (line + 1) * width), (y + line) * bitmap.width + x)
}
