/** Where the page's data comes from. */

import type { Deed } from '../../shared/contract/block.ts'
import type { Canvas } from '../../shared/contract/canvas.ts'
import type { Sale } from '../../shared/contract/feed.ts'
import type { ChangeDto } from '../../shared/contract/live.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { readBlocks } from './read-blocks.ts'
import { readPixels, type OnPictures } from './read-pixels.ts'

/** What a source tells while the wall is open. */
export type Listener = {
  /** Number of the last sale that is known. */
  known(): number
  sales(sales: readonly Sale[]): void
  /** Changes in the order they were made; one that is known already may be told again. */
  changes(changes: readonly ChangeDto[]): void
  /** A later reading, and changes that it may not show yet. */
  reading(reading: Reading, told: readonly ChangeDto[]): void
  /** Whether the last try to hear of news succeeded. */
  heard(well: boolean): void
}

export type Source = {
  /** Tells all that happens after the listener's last known sale; `signal` ends it. */
  follow(listener: Listener, signal: AbortSignal): void
  /** The deed of a claimed block; `undefined` when there is none to be had. */
  deed(block: BlockIndex, signal: AbortSignal): Promise<Deed | undefined>
}

/** A reading of the whole wall in its two halves; each is left out where the service says that it has not changed. */
export type Reading = {
  readonly pixels: Uint8Array | undefined // 100 bytes a block
  readonly blocks: Canvas | undefined // without pictures
}

/** Whether a reading tells anything. */
export const isNews = ({ pixels, blocks }: Reading): boolean => pixels !== undefined || blocks !== undefined

/** Reads the whole wall; rejects when it cannot be read. */
export type CanvasReader = (onPictures?: OnPictures) => Promise<Reading>

/** Reads the wall, each half only if it has changed. */
export function canvasReader(): CanvasReader {
  let known: { readonly pixels: string | undefined; readonly blocks: string | undefined } | undefined
  return async (onPictures = () => {}) => {
    // One after the other, because on a slow line all else would keep the pictures waiting.
    const pixels = await readPixels(known?.pixels, onPictures)
    const blocks = await readBlocks(known?.blocks)
    // Only now, because a half whose other half was lost is to be read again.
    known = { pixels: pixels?.etag ?? known?.pixels, blocks: blocks?.etag ?? known?.blocks }
    return { pixels: pixels?.bytes, blocks: blocks?.canvas }
  }
}
