/** Pictures as values: palette indices with a size, and what others send to be brought down to the palette. */

import type { Dither } from '../../../shared/quantise.ts'
import type { Fit } from '../../../shared/resample.ts'

/** Palette indices, one byte a pixel, row-major. */
export type Bitmap = { readonly width: number; readonly height: number; readonly indices: Uint8Array }

/** A picture as sent: a PNG or JPEG file, or the bare bytes of its pixels, three or four to each. */
export type SentPicture =
  | { readonly kind: 'file'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'raw'; readonly bytes: Uint8Array<ArrayBuffer>; readonly width: number; readonly height: number }

/** What to make of a picture; sizes in pixels of the wall, `background` as `#rrggbb`. */
export type PaintPlan = {
  readonly width: number
  readonly height: number
  readonly fit: Fit
  readonly dither: Dither
  readonly background: string
}

/** Why nothing came of a picture. `tangled` is a file that costs far more to read than its size says. */
export type PictureFlaw = 'unreadable' | 'too-many-pixels' | 'tangled' | 'late' | 'busy'

/** Pixels a picture may have; its header is checked before it is read. */
export const PICTURE_PIXELS_MAX = 16_000_000
