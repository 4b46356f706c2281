/** Where the page's data comes from. */

import type { Deed } from '../../shared/contract/block.ts'
import type { Canvas, CanvasBlock } from '../../shared/contract/canvas.ts'
import type { Sale } from '../../shared/contract/feed.ts'
import type { WireChange } from '../../shared/contract/live.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import type { CanvasHead } from '../wall/wall-model.ts'
import { canvasLines } from './canvas-stream.ts'

/** What a source tells while the wall is open. */
export type Listener = {
  /** Number of the last sale that is known. */
  known(): number
  sales(sales: readonly Sale[]): void
  /** Changes in the order they were made; one that is known already may be told again. */
  changes(changes: readonly WireChange[]): void
  /** A later read, and changes that it may not show yet. */
  canvas(canvas: Canvas, told: readonly WireChange[]): void
  /** Whether the last try to hear of news succeeded. */
  heard(well: boolean): void
}

export type Source = {
  /** Tells all that happens after the listener's last known sale; `signal` ends it. */
  follow(listener: Listener, signal: AbortSignal): void
  /** The deed of a claimed block; `undefined` when there is none to be had. */
  deed(block: BlockIndex, signal: AbortSignal): Promise<Deed | undefined>
}

const CANVAS = '/api/canvas'

/** How a reading of the canvas ended; `unchanged` when the service says that nothing has. */
export type Reading = Canvas | 'unchanged'

/** Reads the whole wall, telling the blocks of each row as they arrive; rejects when it cannot be read. */
export type CanvasReader = (onRows: (head: CanvasHead, blocks: CanvasBlock[]) => void) => Promise<Reading>

/** Reads the canvas, each time only if it has changed. */
export function canvasReader(): CanvasReader {
  let etag: string | undefined
  return async (onRows) => {
    // Without a header of its own the first request is the one that index.html has the browser begin early.
    const response = await (etag === undefined ? fetch(CANVAS) : fetch(CANVAS, { headers: { 'if-none-match': etag } }))
    if (response.status === 304) return 'unchanged'
    if (!response.ok || response.body === null) throw new Error(`the canvas read answered ${response.status}`)
    const canvas = await readLines(response.body, onRows)
    etag = response.headers.get('etag') ?? undefined
    return canvas
  }
}

async function readLines(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onRows: (head: CanvasHead, blocks: CanvasBlock[]) => void,
): Promise<Canvas> {
  const lines = canvasLines()
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const blocks = lines.push(part.value)
    const head = lines.head()
    if (head && blocks.length > 0) onRows(head, blocks)
  }
  return lines.end()
}
