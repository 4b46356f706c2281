/** Words as a grid of ink, in the letters of the cards. */

import { heightOf, widthOf, write } from '../../../server/domain/picture/bitmap-font.ts'
import { bitmapOf } from '../../../server/domain/picture/drawing.ts'

export const LETTER_ROWS = heightOf(1)

/** Where the ink of a text is. */
export function glyphsOf(text: string): { readonly width: number; at(x: number, y: number): boolean } {
  const bitmap = bitmapOf(widthOf(text, 1), LETTER_ROWS, 0)
  write(bitmap, text, { x: 0, y: 0, scale: 1, colour: 1 })
  const isOn = (x: number, y: number) => x >= 0 && x < bitmap.width && y >= 0 && y < LETTER_ROWS
  return { width: bitmap.width, at: (x, y) => isOn(x, y) && bitmap.indices[y * bitmap.width + x] === 1 }
}
