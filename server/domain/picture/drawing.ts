/** A picture under construction: rectangles and other pictures are put on it. */

import type { Bitmap } from './picture.ts'

/** A rectangle, in pixels. */
export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number }

/** A sheet of one colour. */
export const bitmapOf = (width: number, height: number, colour: number): Bitmap => ({
  width,
  height,
  indices: new Uint8Array(width * height).fill(colour),
})

/** Fills a rectangle; what lies outside the sheet is left out. */
export function fill(sheet: Bitmap, { x, y, width, height }: Box, colour: number): void {
  const [left, right] = [Math.max(0, x), Math.min(sheet.width, x + width)]
  for (let line = Math.max(0, y); line < Math.min(sheet.height, y + height) && left < right; line++)
    sheet.indices.fill(colour, line * sheet.width + left, line * sheet.width + right)
}

/** Draws a frame of `thick` pixels around a rectangle, outside it. */
export function frame(sheet: Bitmap, { x, y, width, height }: Box, thick: number, colour: number): void {
  const wide = width + 2 * thick
  fill(sheet, { x: x - thick, y: y - thick, width: wide, height: thick }, colour)
  fill(sheet, { x: x - thick, y: y + height, width: wide, height: thick }, colour)
  fill(sheet, { x: x - thick, y, width: thick, height }, colour)
  fill(sheet, { x: x + width, y, width: thick, height }, colour)
}

/** Puts a whole picture on the sheet, which must have room for it. */
export function place(sheet: Bitmap, { width, height, indices }: Bitmap, x: number, y: number): void {
  for (let line = 0; line < height; line++)
    sheet.indices.set(indices.subarray(line * width, (line + 1) * width), (y + line) * sheet.width + x)
}
