/** Reads the whole wall: first the pictures of all blocks while they arrive, then all else. */

import type { Canvas, CanvasBlock } from '../../shared/contract/canvas.ts'
import { TOTAL_BLOCKS } from '../../shared/wall.ts'
import { BLOCK_BYTES } from '../wall/pixel-buffer.ts'
import type { BlocksMessage } from './blocks-worker.ts'

const PIXELS = '/api/canvas.bin'
const BLOCKS = '/api/blocks'

// The rest is asked for when so many blocks have their pictures. Sooner it would delay them on a slow line; once all of them
// are there, its way through the network would be waited for.
const NEARLY_ALL = 0.85 * TOTAL_BLOCKS

/** Called with pictures as they arrive: those of consecutive blocks, from `first` on. */
type OnPictures = (first: number, bytes: Uint8Array) => void

/** The whole wall, in two halves that may be of two moments. */
export type Reading = {
  readonly pixels: Uint8Array // 100 bytes a block
  readonly blocks: Canvas // without pictures
  readonly number: number // of the log: both halves show every change up to this one
}

/** Reads the whole wall; rejects when it cannot be read. */
export type CanvasReader = (onPictures?: OnPictures) => Promise<Reading>

/** Creates a reader that gets the answers of the service by `ask`. */
export function canvasReader(ask: (path: string) => Promise<Response> = fetch): CanvasReader {
  const read = async (path: string) => {
    const response = await ask(path)
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    return response
  }
  return async (onPictures = () => {}) => {
    const first = await read(PIXELS)
    let asked: Promise<Response> | undefined
    const pixels = await readPixels(first.body, (at, bytes) => {
      onPictures(at, bytes)
      if (at >= NEARLY_ALL) asked ??= read(BLOCKS)
      asked?.catch(() => {})
    })
    const second = await (asked ?? read(BLOCKS))
    // A worker parses the blocks, so that the page stays responsive. It starts while the text is arriving.
    const blocks = await parse(second.arrayBuffer())
    return { pixels, blocks, number: Math.min(numberOf(first), numberOf(second)) }
  }
}

// A read that does not tell its number, because a proxy dropped it, is followed from the beginning.
const numberOf = ({ headers }: Response) => Number(headers.get('log-number'))

async function readPixels(body: Response['body'], onPictures: OnPictures): Promise<Uint8Array> {
  const bytes = new Uint8Array(TOTAL_BLOCKS * BLOCK_BYTES)
  let [length, handedOn] = [0, 0] // bytes received, blocks handed on
  const reader = body?.getReader()
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    bytes.set(part.value, length)
    length += part.value.length
    const whole = Math.floor(length / BLOCK_BYTES)
    if (whole > handedOn) onPictures(handedOn, bytes.subarray(handedOn * BLOCK_BYTES, whole * BLOCK_BYTES))
    handedOn = whole
  }
  if (handedOn < TOTAL_BLOCKS) throw new Error('the pixels were cut short')
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
