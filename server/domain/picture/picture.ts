/** Pictures as values: palette indices with a size, and pictures that clients send to be converted to the palette. */

import type { Dither } from '../../../shared/quantise.ts'
import type { Fit } from '../../../shared/resample.ts'

/** Palette indices, one byte per pixel, row-major. */
export type Bitmap = { readonly width: number; readonly height: number; readonly indices: Uint8Array<ArrayBuffer> }

/** A picture as sent: a PNG or JPEG file, or the raw bytes of its pixels, three or four bytes per pixel. */
export type SentPicture =
  | { readonly kind: 'file'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'raw'; readonly bytes: Uint8Array<ArrayBuffer>; readonly width: number; readonly height: number }

/** How to convert a picture: the sizes are in pixels of the wall, and `background` has the form `#rrggbb`. */
export type PaintPlan = {
  readonly width: number
  readonly height: number
  readonly fit: Fit
  readonly dither: Dither
  readonly background: string
}

/** Why a picture cannot be read. `tangled` means that the file costs far more to decode than its size suggests. */
export type PictureFlaw = 'unreadable' | 'too-many-pixels' | 'tangled' | 'late' | 'busy'

/**
 * The most pixels that a picture may have: as many as a 4K screen has. The header is checked first, because reading the
 * picture takes 16 bytes of memory per pixel.
 */
export const PICTURE_PIXELS_MAX = 3840 * 2160

const MEGAPIXEL = 1_000_000

/**
 * The cost of reading a picture: its stated size in megapixels, rounded up, but at most the largest allowed size. A
 * JPEG whose size cannot be found counts as a picture of the largest allowed size.
 */
export function countMegapixels(picture: SentPicture): number {
  const pixels = picture.kind === 'raw' ? picture.width * picture.height : countPixels(picture.bytes)
  return Math.max(1, Math.ceil(Math.min(pixels ?? PICTURE_PIXELS_MAX, PICTURE_PIXELS_MAX) / MEGAPIXEL))
}

function countPixels(bytes: Uint8Array<ArrayBuffer>): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (isPng(bytes) && bytes.length >= PNG_SIZE_AT + 8)
    return view.getUint32(PNG_SIZE_AT) * view.getUint32(PNG_SIZE_AT + 4)
  return isJpeg(bytes) ? countJpegPixels(view) : 0
}

// In a PNG, the size follows the signature and the length and name of the first chunk.
const PNG_SIZE_AT = 16

/** Skips segments until the frame header, which has the size (ITU T.81, B.2). */
function countJpegPixels(view: DataView): number | undefined {
  for (let at = 2; at + 9 <= view.byteLength && view.getUint8(at) === 0xff;) {
    const marker = view.getUint8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.has(marker)
    if (isFrame) return view.getUint16(at + 5) * view.getUint16(at + 7)
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2)
  }
  return undefined
}

// Markers that are in the range of the frame markers but do not start a frame.
const NO_FRAMES = new Set([0xc4, 0xc8, 0xcc])

export const isPng = (bytes: Uint8Array): boolean => startsWith(bytes, [0x89, 0x50, 0x4e, 0x47])

export const isJpeg = (bytes: Uint8Array): boolean => startsWith(bytes, [0xff, 0xd8, 0xff])

const startsWith = (bytes: Uint8Array, start: readonly number[]) => start.every((byte, at) => bytes[at] === byte)
