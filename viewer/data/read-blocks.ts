/** Reads all but the pictures. A worker makes sense of it, so that the page is never kept from its reader by it. */

import type { Canvas, CanvasBlock } from '../../shared/contract/canvas.ts'
import type { Told } from './blocks-worker.ts'
import { fetchOrKept } from './kept.ts'

const BLOCKS = '/api/blocks'

/** All but the pictures of a wall, and what names its state. */
type Blocks = { readonly canvas: Canvas; readonly etag: string | undefined }

/** Reads unless it is still the state of `etag`; rejects when it cannot be read. */
export async function readBlocks(etag: string | undefined): Promise<Blocks | undefined> {
  const response = await (etag === undefined
    ? fetchOrKept(BLOCKS)
    : fetch(BLOCKS, { headers: { 'if-none-match': etag } }))
  if (response.status === 304) return undefined
  if (!response.ok) throw new Error(`the blocks answered ${response.status}`)
  // The worker starts while the text is on its way.
  return { canvas: await parsed(response.arrayBuffer()), etag: response.headers.get('etag') ?? undefined }
}

function parsed(arriving: Promise<ArrayBuffer>): Promise<Canvas> {
  const { promise, resolve, reject } = Promise.withResolvers<Canvas>()
  const worker = new Worker(new URL('./blocks-worker.ts', import.meta.url), { type: 'module', name: 'blocks-worker' })
  const blocks: CanvasBlock[] = []
  worker.addEventListener('message', ({ data }: MessageEvent<Told>) => {
    if ('head' in data) resolve({ ...data.head, blocks })
    else for (const block of data.blocks) blocks.push(block)
  })
  worker.addEventListener('error', () => reject(new Error('the blocks could not be parsed')))
  arriving.then((text) => worker.postMessage(text, [text]), reject)
  return promise.finally(() => worker.terminate())
}
