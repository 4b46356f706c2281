/** The wall as pixels: 1.44 MB of palette indices, one byte per pixel, row-major over the whole wall. */

import type { AreaSize } from '../../../shared/area.ts'
import { PALETTE_SIZE } from '../../../shared/palette.ts'
import { toBlockOrder, type Pixels, PIXELS_PER_BLOCK } from '../../../shared/pixels.ts'
import { BLOCK_SIZE, type BlockIndex, getCell, HEIGHT, WIDTH } from '../../../shared/wall.ts'
import { createFailure, type Failure } from '../failure.ts'

/** An unpainted pixel; no palette index has this value. */
export const UNPAINTED = 0xff

// A byte needs a value for "unpainted" in addition to those of the colours.
if (PALETTE_SIZE > UNPAINTED) throw new RangeError('the palette leaves no byte value for unpainted pixels')

export type Canvas = Uint8Array & { readonly Canvas: unique symbol }

/** A wall without any picture. */
export const createBlankCanvas = (): Canvas => new Uint8Array(WIDTH * HEIGHT).fill(UNPAINTED) as Canvas

const computeOffset = (block: BlockIndex) => {
  const { col, row } = getCell(block)
  return row * BLOCK_SIZE * WIDTH + col * BLOCK_SIZE
}

// Pixels are copied byte by byte: the blocks have 144,000 lines in all, and a view of a line costs more than copying
// its ten bytes.

/** Writes a block's picture at its position; `null` makes the block unpainted. */
export function placeBlock(canvas: Canvas, block: BlockIndex, pixels: Pixels | null): void {
  const start = computeOffset(block)
  for (let y = 0; y < BLOCK_SIZE; y++)
    for (let x = 0; x < BLOCK_SIZE; x++) canvas[start + y * WIDTH + x] = pixels?.[y * BLOCK_SIZE + x] ?? UNPAINTED
}

/** The 100 bytes of a block, row-major; those of unpainted pixels are `UNPAINTED`. */
export const readBlock = (canvas: Canvas, block: BlockIndex): Uint8Array => readBlocks(canvas, [block])

/** The 100 bytes of each of `blocks`, one block after the other. */
export function readBlocks(canvas: Canvas, blocks: readonly BlockIndex[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(blocks.length * PIXELS_PER_BLOCK)
  let at = 0
  for (const block of blocks) {
    const start = computeOffset(block)
    for (let y = 0; y < BLOCK_SIZE; y++)
      for (let x = 0; x < BLOCK_SIZE; x++) bytes[at++] = canvas[start + y * WIDTH + x] ?? UNPAINTED
  }
  return bytes
}

/** A view, not a copy, of one line of pixels (`line`, from 0) across `count` adjacent blocks, starting at `block`. */
export function readLine(canvas: Canvas, block: BlockIndex, count: number, line: number): Uint8Array {
  const at = computeOffset(block) + line * WIDTH
  return canvas.subarray(at, at + count * BLOCK_SIZE)
}

/**
 * A picture in two orders: `rows` has the bytes row by row, exactly as they were signed, and `blocks` has them block by
 * block.
 */
type AreaPixels = { readonly rows: Uint8Array; readonly blocks: Pixels }

/** Reads the picture of an area of a given size, or returns a failure that says what is wrong with it. */
export function readAreaPixels(base64: unknown, { w, h }: AreaSize): AreaPixels | Failure {
  const rows = decodeBase64(base64)
  const length = w * h * PIXELS_PER_BLOCK
  if (rows?.length !== length)
    return createFailure(
      'invalid_pixels',
      `pixels must be ${length} bytes in base64, one for each pixel of ${w}x${h} blocks.`,
    )
  const beyond = rows.findIndex((byte) => byte >= PALETTE_SIZE)
  if (beyond >= 0)
    return createFailure(
      'invalid_pixels',
      `pixels: pixel ${beyond} is ${rows[beyond]}; the palette ends at ${PALETTE_SIZE - 1}.`,
    )
  return { rows, blocks: toBlockOrder(rows, w) }
}

/** Decodes base64; `undefined` if it is malformed or not a string. */
export function decodeBase64(base64: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof base64 !== 'string') return undefined
  try {
    return Uint8Array.fromBase64(base64)
  } catch {
    return undefined
  }
}
