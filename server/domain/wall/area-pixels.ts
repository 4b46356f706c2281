/** Pictures of areas as they are sent: base64 of a byte for each pixel, row by row over the whole area. */

import type { AreaSize } from '../../../shared/area.ts'
import { PALETTE_SIZE } from '../../../shared/palette.ts'
import { blockwise, PIXELS_PER_BLOCK, type Pixels } from '../../../shared/pixels.ts'
import { failure, type Failure } from '../failure.ts'

/** A picture as it was signed, byte for byte, and block by block. */
export type AreaPixels = { readonly rows: Uint8Array; readonly blocks: Pixels }

/** Reads the picture of an area of a size, or says what is wrong with it. */
export function readAreaPixels(base64: unknown, { w, h }: AreaSize): AreaPixels | Failure {
  const rows = bytesIn(base64)
  const length = w * h * PIXELS_PER_BLOCK
  if (rows?.length !== length)
    return failure(
      'invalid_pixels',
      `pixels must be ${length} bytes in base64, one for each pixel of ${w}x${h} blocks.`,
    )
  const beyond = rows.findIndex((byte) => byte >= PALETTE_SIZE)
  if (beyond >= 0)
    return failure(
      'invalid_pixels',
      `pixels: pixel ${beyond} is ${rows[beyond]}; the palette ends at ${PALETTE_SIZE - 1}.`,
    )
  return { rows, blocks: blockwise(rows, w) }
}

/** The bytes of base64; `undefined` for what is none. */
export function bytesIn(base64: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof base64 !== 'string') return undefined
  try {
    return Uint8Array.fromBase64(base64)
  } catch {
    return undefined
  }
}
