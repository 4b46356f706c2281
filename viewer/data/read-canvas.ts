/** Reads the whole wall: first the pictures of all blocks while they arrive, then all else. */

import type { Canvas, CanvasBlock } from '../../shared/contract/canvas.ts'
import { TOTAL_BLOCKS } from '../../shared/wall.ts'
import { BLOCK_BYTES } from '../wall/pixel-buffer.ts'
import type { BlocksMessage } from './blocks-worker.ts'
import { fetchOrCached } from './service-cache.ts'

const PIXELS = '/api/canvas.bin'
const BLOCKS = '/api/blocks'

/** Called with pictures as they arrive: those of consecutive blocks, from `first` on. */
type OnPictures = (first: number, bytes: Uint8Array) => void

/** A read of the whole wall in its two halves. A half is `undefined` when the service says that it has not changed. */
export type Reading = {
  readonly pixels: Uint8Array | undefined // 100 bytes a block
  readonly blocks: Canvas | undefined // without pictures
}

/** Whether anything has changed since the last read. */
export const isNews = ({ pixels, blocks }: Reading): boolean => pixels !== undefined || blocks !== undefined

/** Reads the whole wall; rejects when it cannot be read. */
export type CanvasReader = (onPictures?: OnPictures) => Promise<Reading>

/** Creates a reader that asks for each half with the ETag of its last read. */
export function canvasReader(): CanvasReader {
  let known: { readonly pixels: string | undefined; readonly blocks: string | undefined } | undefined
  return async (onPictures = () => {}) => {
    // One after the other: on a slow line all else would delay the pictures.
    const pixels = await readIfChanged(PIXELS, 'pixels', known?.pixels, ({ body }) => readPixels(body, onPictures))
    // A worker parses the blocks, so that the page stays responsive. It starts while the text is arriving.
    const blocks = await readIfChanged(BLOCKS, 'blocks', known?.blocks, (response) => parse(response.arrayBuffer()))
    // Both tags are set together: when one half fails, both are read again.
    known = { pixels: pixels?.etag ?? known?.pixels, blocks: blocks?.etag ?? known?.blocks }
    return { pixels: pixels?.value, blocks: blocks?.value }
  }
}

async function readIfChanged<T>(path: string, name: string, etag: string | undefined, read: (response: Response) => T) {
  // The first request has no header of its own, so that it is the one which index.html preloads.
  const response = await (etag === undefined
    ? fetchOrCached(path)
    : fetch(path, { headers: { 'if-none-match': etag } }))
  if (response.status === 304) return undefined
  if (!response.ok) throw new Error(`the ${name} answered ${response.status}`)
  return { value: await read(response), etag: response.headers.get('etag') ?? undefined }
}

async function readPixels(body: Response['body'], onPictures: OnPictures): Promise<Uint8Array> {
  const bytes = new Uint8Array(TOTAL_BLOCKS * BLOCK_BYTES)
  let [length, told] = [0, 0] // bytes received, blocks handed on
  const reader = body?.getReader()
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    bytes.set(part.value, length)
    length += part.value.length
    const whole = Math.floor(length / BLOCK_BYTES)
    if (whole > told) onPictures(told, bytes.subarray(told * BLOCK_BYTES, whole * BLOCK_BYTES))
    told = whole
  }
  if (told < TOTAL_BLOCKS) throw new Error('the pixels were cut short')
  return bytes
}

function parse(arriving: Promise<ArrayBuffer>): Promise<Canvas> {
  const { promise, resolve, reject } = Promise.withResolvers<Canvas>()
  const worker = new Worker(new URL('./blocks-worker.ts', import.meta.url), { type: 'module', name: 'blocks-worker' })
  const blocks: CanvasBlock[] = []
  worker.addEventListener('message', ({ data }: MessageEvent<BlocksMessage>) => {
    if ('head' in data) resolve({ ...data.head, blocks })
    else for (const block of data.blocks) blocks.push(block)
  })
  worker.addEventListener('error', () => reject(new Error('the blocks could not be parsed')))
  arriving.then((text) => worker.postMessage(text, [text]), reject)
  return promise.finally(() => worker.terminate())
}
