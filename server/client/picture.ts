/** Detects the type of a picture file, and rearranges the pixels of blocks into rows. */

import type { PaintedBlocks } from '../../shared/contract/picture.ts'
import { PIXELS_PER_BLOCK } from '../../shared/pixels.ts'
import { BLOCK_SIZE } from '../../shared/wall.ts'

/** The type of a picture, by its first bytes; `undefined` if it is neither a PNG nor a JPEG. */
export function detectImageType([first, second]: Uint8Array): 'image/png' | 'image/jpeg' | undefined {
  if (first === 0x89 && second === 0x50) return 'image/png'
  return first === 0xff && second === 0xd8 ? 'image/jpeg' : undefined
}

/** Converts pixels from block-by-block order to rows across all blocks. */
export function toPixelRows({ w, h, blocks }: PaintedBlocks): Uint8Array {
  const rows = new Uint8Array(w * h * PIXELS_PER_BLOCK)
  for (const { dx, dy, px } of blocks) {
    const pixels = Buffer.from(px, 'hex')
    for (let line = 0; line < BLOCK_SIZE; line++) {
      const part = pixels.subarray(line * BLOCK_SIZE, (line + 1) * BLOCK_SIZE)
      rows.set(part, ((dy * BLOCK_SIZE + line) * w + dx) * BLOCK_SIZE)
    }
  }
  return rows
}
