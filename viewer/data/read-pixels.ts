/** Reads the pictures of all blocks while they arrive. */

import { TOTAL_BLOCKS } from '../../shared/wall.ts'
import { BLOCK_BYTES } from '../wall/pixel-buffer.ts'
import { fetchOrKept } from './kept.ts'

const PIXELS = '/api/canvas.bin'

/** Tells pictures as they arrive: those of blocks one after the other, from `first` on. */
export type OnPictures = (first: number, bytes: Uint8Array) => void

/** The pictures of a wall, and what names their state. */
type Pixels = { readonly bytes: Uint8Array; readonly etag: string | undefined }

/** Reads unless they are still those of `etag`; rejects when they cannot be read. */
export async function readPixels(etag: string | undefined, onPictures: OnPictures): Promise<Pixels | undefined> {
  // Without a header of its own the first request is the one that index.html has the browser begin early.
  const response = await (etag === undefined
    ? fetchOrKept(PIXELS)
    : fetch(PIXELS, { headers: { 'if-none-match': etag } }))
  if (response.status === 304) return undefined
  if (!response.ok || response.body === null) throw new Error(`the pixels answered ${response.status}`)
  return { bytes: await readWhole(response.body, onPictures), etag: response.headers.get('etag') ?? undefined }
}

async function readWhole(body: ReadableStream<Uint8Array>, onPictures: OnPictures): Promise<Uint8Array> {
  const bytes = new Uint8Array(TOTAL_BLOCKS * BLOCK_BYTES)
  const reader = body.getReader()
  let [length, told] = [0, 0] // bytes that have come, blocks that have been told
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes.set(part.value, length)
    length += part.value.length
    const whole = Math.floor(length / BLOCK_BYTES)
    if (whole > told) onPictures(told, bytes.subarray(told * BLOCK_BYTES, whole * BLOCK_BYTES))
    told = whole
  }
  if (told < TOTAL_BLOCKS) throw new Error('the pixels were cut short')
  return bytes
}
