/** Converts a picture to blocks in the wall's palette. */

import type { PaintedBlocks } from '../../shared/contract/picture.ts'
import { toBlockOrder, sliceBlockPixels, type Pixels } from '../../shared/pixels.ts'
import { BLOCK_SIZE } from '../../shared/wall.ts'
import { createFailure, type Failure } from '../domain/failure.ts'
import {
  countMegapixels,
  PICTURE_PIXELS_MAX,
  type PaintPlan,
  type PictureFlaw,
  type SentPicture,
} from '../domain/picture/picture.ts'
import type { AreaPicture } from '../domain/purchase/listing.ts'
import type { Address } from '../domain/purchase/payment.ts'
import { createPicturesBusyFailure } from '../domain/purchase/refusals.ts'
import type { Pictures } from '../ports.ts'
import type { RateLimits } from './rate-limits.ts'

/** How to convert a picture: width and height in blocks, and the style. */
export type BlockPlan = Pick<PaintPlan, 'fit' | 'dither' | 'background'> & { readonly w: number; readonly h: number }

export type ImageToPixelsDeps = { readonly pictures: Pictures; readonly limits: RateLimits }

/**
 * Returns the blocks row by row, and a picture of all of them together. The budget of the client at `address` must
 * already have been charged for the first megapixel.
 */
export async function convertImageToPixels(
  { pictures, limits }: ImageToPixelsDeps,
  address: string,
  picture: SentPicture,
  { w, h, ...how }: BlockPlan,
): Promise<PaintedBlocks | Failure> {
  const more = countMegapixels(picture) - 1
  const beyond = more === 0 ? undefined : limits.take('uploads', address, more)
  if (beyond !== undefined) return beyond
  const plan = { ...how, width: w * BLOCK_SIZE, height: h * BLOCK_SIZE }
  const bitmap = await pictures.convertToPalette(picture, plan, { kind: 'client', who: address })
  if (typeof bitmap === 'string') return createPictureFailure(bitmap)
  const pixels = toBlockOrder(bitmap.indices, w)
  const blocks = Array.from({ length: w * h }, (_, i) => {
    return { dx: i % w, dy: Math.floor(i / w), px: sliceBlockPixels(pixels, i).toHex() }
  })
  const preview = await pictures.encode(bitmap)
  return { w, h, blocks, preview: preview.toBase64() }
}

/** Converts the picture that a payer sent to the pixels of an area, or returns why it cannot be converted. */
export async function paintArea(
  pictures: Pick<Pictures, 'convertToPalette'>,
  payer: Address,
  { sent, plan }: AreaPicture,
): Promise<Pixels | Failure> {
  const bitmap = await pictures.convertToPalette(sent, plan, { kind: 'payer', who: payer })
  return typeof bitmap === 'string'
    ? createPictureFailure(bitmap)
    : toBlockOrder(bitmap.indices, plan.width / BLOCK_SIZE)
}

function createPictureFailure(flaw: PictureFlaw): Failure {
  if (flaw === 'busy') return createPicturesBusyFailure()
  return createFailure('invalid_image', flaws[flaw])
}

const flaws = {
  unreadable:
    'The image is not a complete PNG or JPEG, nor raw pixels of the given size: width times height times 3 (RGB) or 4 (RGBA) bytes.',
  'too-many-pixels': `The picture has more than ${PICTURE_PIXELS_MAX} pixels, or a side that is too long. Send a smaller one.`,
  tangled: 'The JPEG has too many scans. Export it again from an image editor, or send a PNG.',
  late: 'Reading the picture took too long. Send a smaller or simpler one.',
} satisfies Record<Exclude<PictureFlaw, 'busy'>, string>
