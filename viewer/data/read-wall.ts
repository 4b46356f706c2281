/** Reads the whole wall: first the pictures of all blocks, which are shown as they arrive, then the rest. */

import type { CanvasBlock } from '../../shared/contract/canvas.ts'
import { ASSET_SYMBOL, USUAL_PRICE } from '../../shared/money.ts'
import { PIXELS_PER_BLOCK } from '../../shared/pixels.ts'
import { TOTAL_BLOCKS, type BlockIndex } from '../../shared/wall.ts'
import { createWall, addClaims, addPictures, type CanvasHead, type Wall } from '../wall/wall-model.ts'
import type { BlocksMessage } from './blocks-worker.ts'

const PIXELS = '/api/canvas.bin'
const BLOCKS = '/api/blocks'

// The rest of the wall is requested once the pictures of this many blocks have arrived. An earlier request would delay
// the other pictures on a slow connection; a later one would add its round trip to the wait.
const NEARLY_ALL = 0.85 * TOTAL_BLOCKS

// Pictures arrive faster than they need to be drawn, and drawing each one immediately would keep a slow machine busy.
// So after each drawing, the page waits `RESTS` times as long as the drawing took, but at least `DRAW_MS`.
const DRAW_MS = 80
const RESTS = 10

// The page yields to user input after this much work, even if more data has arrived.
const TASK_MS = 12

export type ReadWallDeps = {
  /** Requests a path of the service. */
  requestPath(path: string): Promise<Response>
  /** Shows the wall, as far as it has arrived. */
  showWall?(wall: Wall): void
  /** The price of a block, until the service has sent it. */
  readonly price?: string
}

/** The whole wall, and the log number up to which it shows every change. */
export type Reading = { readonly wall: Wall; readonly number: number }

/** Reads the whole wall; rejects if it cannot be read. */
export async function readWall({
  requestPath,
  showWall = () => {},
  price = USUAL_PRICE,
}: ReadWallDeps): Promise<Reading> {
  let wall = createWall(createEmptyHead(price))
  let changed: BlockIndex[] = [] // since the wall was last shown
  let timer: ReturnType<typeof setTimeout> | undefined
  let nextAt = performance.now() + DRAW_MS
  const showPart = () => {
    timer = undefined
    const begun = performance.now()
    showWall({ ...wall, changed })
    changed = []
    const ended = performance.now()
    nextAt = ended + Math.max(DRAW_MS, RESTS * (ended - begun))
  }
  const requestOrThrow = async (path: string) => {
    const response = await requestPath(path)
    if (!response.ok) throw new Error(`${path} returned ${response.status}`)
    return response
  }
  try {
    const first = await requestOrThrow(PIXELS)
    let asked: Promise<Response> | undefined
    for await (const [from, bytes] of readPictures(first.body)) {
      wall = addPictures(wall, from, bytes)
      changed.push(...(wall.changed ?? []))
      if (changed.length > 0) timer ??= setTimeout(showPart, nextAt - performance.now())
      if (from >= NEARLY_ALL) asked ??= requestOrThrow(BLOCKS)
      asked?.catch(() => {})
    }
    const second = await (asked ?? requestOrThrow(BLOCKS))
    const whole: Wall = { ...wall, claims: new Map() }
    const { pricing, stats, agents } = await parseInWorker(second.body, (blocks) => {
      changed.push(...(addClaims(whole, blocks).changed ?? []))
    })
    const done: Wall = { ...whole, pricing, stats, agents, changed: undefined, complete: true }
    // Blocks that were already drawn need not be drawn again.
    showWall({ ...done, changed })
    return { wall: done, number: Math.min(parseLogNumber(first), parseLogNumber(second)) }
  } finally {
    clearTimeout(timer)
  }
}

/** The wall's values besides its blocks, while only pictures have arrived. */
const createEmptyHead = (perBlock: string): CanvasHead => ({
  pricing: { perPixel: '', perBlock, asset: ASSET_SYMBOL, network: '' },
  stats: { claimed: 0, remaining: 0, agents: 0, lastClaimedAt: null, lastSaleId: 0 },
  agents: [],
})

// If a proxy dropped the header with the log number, the page follows the log from the beginning.
const parseLogNumber = ({ headers }: Response) => Number(headers.get('log-number'))

/**
 * Yields the pictures of consecutive blocks as they arrive, each part with its first block; throws if the data ends too
 * soon.
 */
async function* readPictures(body: Response['body']): AsyncGenerator<readonly [first: number, bytes: Uint8Array]> {
  const bytes = new Uint8Array(TOTAL_BLOCKS * PIXELS_PER_BLOCK)
  let [length, blocks] = [0, 0] // bytes that have arrived, and whole blocks among them
  let begun = performance.now()
  const reader = body?.getReader()
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    bytes.set(part.value, length)
    length += part.value.length
    const whole = Math.floor(length / PIXELS_PER_BLOCK)
    if (whole > blocks) yield [blocks, bytes.subarray(blocks * PIXELS_PER_BLOCK, whole * PIXELS_PER_BLOCK)]
    blocks = whole
    if (performance.now() - begun < TASK_MS) continue
    await new Promise((resolve) => setTimeout(resolve))
    begun = performance.now()
  }
  if (blocks < TOTAL_BLOCKS) throw new Error('the pixel data ended too early')
}

/** Has a worker parse all but the pictures, so that the page stays responsive. */
function parseInWorker(body: Response['body'], onBlocks: (blocks: readonly CanvasBlock[]) => void) {
  const { promise, resolve, reject } = Promise.withResolvers<CanvasHead>()
  const worker = new Worker(new URL('./blocks-worker.ts', import.meta.url), { type: 'module', name: 'blocks-worker' })
  worker.addEventListener('message', ({ data }: MessageEvent<BlocksMessage>) => {
    if ('head' in data) resolve(data.head)
    else onBlocks(data.blocks)
  })
  worker.addEventListener('error', () => reject(new Error('the blocks could not be parsed')))
  const postPieces = async () => {
    for await (const piece of body ?? []) worker.postMessage(piece, [piece.buffer])
    worker.postMessage(undefined)
  }
  postPieces().catch(reject)
  return promise.finally(() => worker.terminate())
}
