/**
 * The worker that encodes and scales down the wall's own pictures. It gets no uploads, so it lives as long as the
 * process.
 */

import { PALETTE } from '../../../shared/palette.ts'
import { quantise } from '../../../shared/quantise.ts'
import { resample } from '../../../shared/resample.ts'
import type { Bitmap } from '../../domain/picture/picture.ts'
import { enlarge } from '../../domain/picture/wall-picture.ts'
import { encodePng } from './png.ts'

/** A picture to enlarge by `scale` and write as a PNG, or to scale down. */
export type OwnJob = { readonly bitmap: Bitmap } & (
  | { readonly kind: 'encode'; readonly scale: number }
  | { readonly kind: 'shrink'; readonly width: number; readonly height: number }
)

/** The result of a job: a PNG for `encode`, a bitmap for `shrink`. */
export type OwnPicture = Uint8Array<ArrayBuffer> | Bitmap

/** A job with its number; the worker returns the number with the result. */
export type NumberedJob = { readonly id: number; readonly job: OwnJob }
export type NumberedPicture = { readonly id: number; readonly picture: OwnPicture }

declare const self: Worker

self.addEventListener('message', ({ data: { id, job } }: MessageEvent<NumberedJob>) => {
  void makePicture(job).then((picture) => {
    const { buffer } = picture instanceof Uint8Array ? picture : picture.indices
    self.postMessage({ id, picture } satisfies NumberedPicture, [buffer])
  })
})

async function makePicture(job: OwnJob): Promise<OwnPicture> {
  if (job.kind === 'encode') return await encodePng(enlarge(job.bitmap, job.scale))
  const { width, height } = job
  const raster = { width: job.bitmap.width, height: job.bitmap.height, rgba: toRgba(job.bitmap) }
  return { width, height, indices: quantise(resample(raster, width, height, 'fill', '#000000'), 'none') }
}

const rgb = Uint8Array.from(Buffer.from(PALETTE.map((colour) => colour.slice(1)).join(''), 'hex'))

/** The colours of a picture, four bytes per pixel. */
function toRgba({ indices }: Bitmap): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(indices.length * 4)
  for (let i = 0, to = 0; i < indices.length; i++) {
    const from = (indices[i] ?? 0) * 3
    bytes[to++] = rgb[from] ?? 0
    bytes[to++] = rgb[from + 1] ?? 0
    bytes[to++] = rgb[from + 2] ?? 0
    bytes[to++] = 255
  }
  return bytes
}
