/** The worker that parses all of the wall but its pictures, and hands it over in parts that take a page no time. */

import type { Canvas, CanvasBlock } from '../../shared/contract/canvas.ts'

/** What the worker tells: blocks part by part, then all else. */
export type Told = { readonly blocks: readonly CanvasBlock[] } | { readonly head: Omit<Canvas, 'blocks'> }

// A slow machine takes in so many at a stretch without a pause that is noticed.
const PART_BLOCKS = 1000

declare const self: Worker

const tell = (told: Told) => self.postMessage(told)

self.addEventListener('message', ({ data: text }: MessageEvent<ArrayBuffer>) => {
  const { blocks, ...head }: Canvas = JSON.parse(new TextDecoder().decode(text))
  for (let at = 0; at < blocks.length; at += PART_BLOCKS) tell({ blocks: blocks.slice(at, at + PART_BLOCKS) })
  tell({ head })
})
