/** Draws rectangles, text and other bitmaps onto a bitmap. */

import letters from './letters.json'
import type { Bitmap } from './picture.ts'

/** A rectangle, in pixels. */
export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number }

/** A bitmap of one colour. */
export const createBitmap = (width: number, height: number, colour: number): Bitmap => ({
  width,
  height,
  indices: new Uint8Array(width * height).fill(colour),
})

/** Fills a rectangle; the part outside the bitmap is left out. */
export function fillBox(bitmap: Bitmap, { x, y, width, height }: Box, colour: number): void {
  const [left, right] = [Math.max(0, x), Math.min(bitmap.width, x + width)]
  for (let line = Math.max(0, y); line < Math.min(bitmap.height, y + height) && left < right; line++)
    bitmap.indices.fill(colour, line * bitmap.width + left, line * bitmap.width + right)
}

/** Draws a frame of `thick` pixels around a rectangle, outside it. */
export function drawFrame(bitmap: Bitmap, { x, y, width, height }: Box, thick: number, colour: number): void {
  const wide = width + 2 * thick
  fillBox(bitmap, { x: x - thick, y: y - thick, width: wide, height: thick }, colour)
  fillBox(bitmap, { x: x - thick, y: y + height, width: wide, height: thick }, colour)
  fillBox(bitmap, { x: x - thick, y, width: thick, height }, colour)
  fillBox(bitmap, { x: x + width, y, width: thick, height }, colour)
}

/** Copies a whole picture onto a bitmap at `x`, `y`, where all of it must fit. */
export function placeBitmap(bitmap: Bitmap, { width, height, indices }: Bitmap, x: number, y: number): void {
  for (let line = 0; line < height; line++)
    bitmap.indices.set(indices.subarray(line * width, (line + 1) * width), (y + line) * bitmap.width + x)
}

const LETTER_WIDTH = 5
const LETTER_HEIGHT = 7

// The width of a letter and the gap after it.
const ADVANCE = LETTER_WIDTH + 1

// Each letter has one base-32 digit per line of pixels, from the top; the highest bit is the leftmost pixel.
const LINES: Readonly<Record<string, string>> = letters

/**
 * The position and style of a text: its upper left corner, the factor by which its letters are enlarged, and its
 * colour.
 */
export type TextStyle = { readonly x: number; readonly y: number; readonly scale: number; readonly colour: number }

/** The width of a text, in pixels. */
export const measureTextWidth = (text: string, scale: number): number => (text.length * ADVANCE - 1) * scale

/** The height of a text, in pixels. */
export const measureTextHeight = (scale: number): number => LETTER_HEIGHT * scale

/** Whether there is a letter for each character of a text. */
export const isWritable = (text: string): boolean => [...text].every((letter) => letter === ' ' || letter in LINES)

/** Writes text. A character that has no letter in `LINES` leaves a gap. */
export function writeText(bitmap: Bitmap, text: string, { x, y, scale, colour }: TextStyle): void {
  for (const [at, letter] of [...text].entries())
    for (const [line, digit] of [...(LINES[letter] ?? '')].entries())
      for (let column = 0; column < LETTER_WIDTH; column++) {
        const isInk = (Number.parseInt(digit, 32) >> (LETTER_WIDTH - 1 - column)) & 1
        const box = { x: x + (at * ADVANCE + column) * scale, y: y + line * scale, width: scale, height: scale }
        if (isInk === 1) fillBox(bitmap, box, colour)
      }
}
