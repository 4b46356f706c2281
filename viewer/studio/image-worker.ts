/**
 * The worker that decodes a picture and paints it in blocks, with the same code as `/api/pixels`. The picture never
 * leaves the browser.
 */

import { quantise } from '../../shared/quantise.ts'
import { resample, type Raster } from '../../shared/resample.ts'
import { BLOCK_SIZE } from '../../shared/wall.ts'
import { isPhotograph } from './picture-kind.ts'
import type { OpenedPicture, PaintOptions } from './sketch.ts'

/** The jobs of the worker, which runs them one after another. */
export type Job = { readonly open: Blob } | { readonly paint: PaintOptions }

/** Why a picture could not be opened. */
export type PictureError = 'unreadable' | 'too-many-pixels'

/** The result of a job: facts about the opened picture, the painted pixels, or why the job failed. */
export type JobResult =
  | { readonly opened: Omit<OpenedPicture, 'name'> }
  | { readonly indices: Uint8Array } // palette indices, one per pixel, row-major
  | { readonly flaw: PictureError }

// The same limit as that of `/api/pixels`.
const PICTURE_PIXELS_MAX = 16_000_000

declare const self: Worker

let raster: Raster | undefined
let turn: Promise<void> = Promise.resolve()

self.addEventListener('message', ({ data }: MessageEvent<Job>) => {
  turn = turn.then(async () => self.postMessage(await runJob(data)))
})

async function runJob(job: Job): Promise<JobResult> {
  if ('paint' in job)
    return raster === undefined ? { flaw: 'unreadable' } : { indices: paintPicture(raster, job.paint) }
  const opened = await openPicture(job.open)
  if (typeof opened === 'string') return { flaw: opened }
  raster = opened
  const { width, height, rgba } = opened
  return { opened: { width, height, isPhoto: isPhotograph(opened), isClear: !isOpaque(rgba) } }
}

function paintPicture(from: Raster, { size: { w, h }, style: { fit, dither, background } }: PaintOptions): Uint8Array {
  return quantise(resample(from, w * BLOCK_SIZE, h * BLOCK_SIZE, fit, background), dither)
}

async function openPicture(file: Blob): Promise<Raster | PictureError> {
  try {
    // Keeps the colours as they are in the file, because the service also ignores colour profiles.
    const bitmap = await createImageBitmap(file, { colorSpaceConversion: 'none', premultiplyAlpha: 'none' })
    const { width, height } = bitmap
    if (width * height > PICTURE_PIXELS_MAX) return 'too-many-pixels'
    const rgba = readPixels(bitmap)
    bitmap.close()
    return rgba === undefined ? 'unreadable' : { width, height, rgba }
  } catch {
    return 'unreadable'
  }
}

/**
 * Reads the pixels of a picture, through the GPU if some are transparent: a 2d canvas multiplies colours by their
 * opacity, which rounds them, but the GPU returns them exactly.
 */
function readPixels(bitmap: ImageBitmap): Raster['rgba'] | undefined {
  const { width, height } = bitmap
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })
  context?.drawImage(bitmap, 0, 0)
  const plain = context?.getImageData(0, 0, width, height).data
  return plain && isOpaque(plain) ? plain : (readPixelsByGpu(bitmap) ?? plain)
}

const isOpaque = (rgba: Raster['rgba']): boolean => rgba.every((byte, at) => at % 4 !== 3 || byte === 255)

function readPixelsByGpu(bitmap: ImageBitmap): Uint8Array | undefined {
  const { width, height } = bitmap
  const gl = new OffscreenCanvas(1, 1).getContext('webgl')
  if (gl === null || Math.max(width, height) > gl.getParameter(gl.MAX_TEXTURE_SIZE)) return undefined
  const texture = gl.createTexture()
  gl.bindTexture(gl.TEXTURE_2D, texture)
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, bitmap)
  gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer())
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0)
  if (gl.checkFramebufferStatus(gl.FRAMEBUFFER) !== gl.FRAMEBUFFER_COMPLETE) return undefined
  const pixels = new Uint8Array(width * height * 4)
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels)
  return gl.getError() === gl.NO_ERROR ? pixels : undefined
}
