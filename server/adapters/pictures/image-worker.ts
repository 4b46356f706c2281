/**
 * The worker that decodes uploaded pictures. It handles one picture, and is terminated at the deadline, whatever the
 * file does to it.
 */

import { quantise } from '../../../shared/quantise.ts'
import { resample, type Raster } from '../../../shared/resample.ts'
import {
  isJpeg,
  isPng,
  PICTURE_PIXELS_MAX,
  type Bitmap,
  type PaintPlan,
  type PictureFlaw,
  type SentPicture,
} from '../../domain/picture/picture.ts'
import { readPlainPng } from './png.ts'

/** The only message to the worker, which replies with a `Bitmap` or a `PictureFlaw`. */
export type PaintJob = { readonly picture: SentPicture; readonly plan: PaintPlan }

// Longer than a side of any camera's pictures; the tables for scaling have an entry for each pixel of a side.
const SIDE_MAX = 20_000

// A progressive JPEG has about ten scans. Each scan costs a pass over the whole picture, however few bytes it has in
// the file.
const JPEG_SCANS_MAX = 50

const JPEG_SCAN = Buffer.from([0xff, 0xda])

declare const self: Worker

self.addEventListener('message', ({ data }: MessageEvent<PaintJob>) => {
  void convertToPalette(data).then((painted) => self.postMessage(painted))
})

async function convertToPalette({ picture, plan }: PaintJob): Promise<Bitmap | PictureFlaw> {
  const raster = picture.kind === 'raw' ? decodeRaw(picture) : await decodeFile(picture.bytes)
  if (typeof raster === 'string') return raster
  const { width, height, fit, dither, background } = plan
  const indices = quantise(resample(raster, width, height, fit, background), dither)
  return { width, height, indices }
}

function decodeRaw({ bytes, width, height }: SentPicture & { kind: 'raw' }): Raster | PictureFlaw {
  if (width > SIDE_MAX || height > SIDE_MAX || width * height > PICTURE_PIXELS_MAX) return 'too-many-pixels'
  if (bytes.length === width * height * 4) return { width, height, rgba: bytes }
  if (bytes.length !== width * height * 3) return 'unreadable'
  const rgba = new Uint8Array(width * height * 4).fill(255)
  for (let i = 0; i < width * height; i++) rgba.set(bytes.subarray(i * 3, i * 3 + 3), i * 4)
  return { width, height, rgba }
}

async function decodeFile(bytes: Uint8Array<ArrayBuffer>): Promise<Raster | PictureFlaw> {
  // The runtime decodes more formats than we accept. Without this check, an upload could reach every decoder.
  if (!isJpeg(bytes) && !isPng(bytes)) return 'unreadable'
  if (isJpeg(bytes) && countScans(bytes) > JPEG_SCANS_MAX) return 'tangled'
  try {
    const { width, height } = await openImage(bytes).metadata()
    if (width > SIDE_MAX || height > SIDE_MAX) return 'too-many-pixels'
    return readPlainPng(await openImage(bytes).png({ compressionLevel: 0 }).bytes())
  } catch (error) {
    return isTooLarge(error) ? 'too-many-pixels' : 'unreadable'
  }
}

const openImage = (bytes: Uint8Array<ArrayBuffer>) => new Bun.Image(bytes, { maxPixels: PICTURE_PIXELS_MAX })

/**
 * How often the marker of a scan occurs in the file: once per scan, and perhaps in metadata, but never in image data.
 */
function countScans(bytes: Uint8Array<ArrayBuffer>): number {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let scans = 0
  for (let at = file.indexOf(JPEG_SCAN); at >= 0; at = file.indexOf(JPEG_SCAN, at + JPEG_SCAN.length)) scans++
  return scans
}

const isTooLarge = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_IMAGE_TOO_MANY_PIXELS'
