/** The wall as pixels: 1.44 MB of palette indices, one byte a pixel, row-major over the whole wall. */

import { PALETTE_SIZE } from '../../shared/palette.ts'
import { PIXELS_PER_BLOCK, type Pixels } from '../../shared/pixels.ts'
import { BLOCK_SIZE, HEIGHT, WIDTH, cellOf, type BlockIndex } from '../../shared/wall.ts'

/** A pixel that nobody has painted; no palette index has this value. */
export const UNPAINTED = 0xff

// A byte must be able to say "unpainted" besides naming a colour.
if (PALETTE_SIZE > UNPAINTED) throw new RangeError('the palette leaves no byte for unpainted pixels')

export type Canvas = Uint8Array & { readonly Canvas: unique symbol }

/** A wall that nobody has painted. */
export const blankCanvas = (): Canvas => new Uint8Array(WIDTH * HEIGHT).fill(UNPAINTED) as Canvas

const offsetOf = (block: BlockIndex) => {
  const { col, row } = cellOf(block)
  return row * BLOCK_SIZE * WIDTH + col * BLOCK_SIZE
}

/** Puts a block's picture in its place; `null` leaves it unpainted. */
export function placeBlock(canvas: Canvas, block: BlockIndex, pixels: Pixels | null): void {
  const start = offsetOf(block)
  for (let y = 0; y < BLOCK_SIZE; y++) {
    const at = start + y * WIDTH
    if (pixels === null) canvas.fill(UNPAINTED, at, at + BLOCK_SIZE)
    else canvas.set(pixels.subarray(y * BLOCK_SIZE, (y + 1) * BLOCK_SIZE), at)
  }
}

/** The 100 bytes of a block, row-major; unpainted ones are `UNPAINTED`. */
export function readBlock(canvas: Canvas, block: BlockIndex): Uint8Array {
  const start = offsetOf(block)
  const bytes = new Uint8Array(PIXELS_PER_BLOCK)
  for (let y = 0; y < BLOCK_SIZE; y++) {
    const at = start + y * WIDTH
    bytes.set(canvas.subarray(at, at + BLOCK_SIZE), y * BLOCK_SIZE)
  }
  return bytes
}

/** One line of pixels, from 0, across `count` blocks side by side. A view, not a copy. */
export function lineOf(canvas: Canvas, block: BlockIndex, count: number, line: number): Uint8Array {
  const at = offsetOf(block) + line * WIDTH
  return canvas.subarray(at, at + count * BLOCK_SIZE)
}
