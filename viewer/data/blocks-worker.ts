/**
 * The worker that parses the wall without its pictures, and sends it in parts small enough to keep the page responsive.
 */

import type { Canvas, CanvasBlock } from '../../shared/contract/canvas.ts'

/** The messages of the worker: the blocks in parts, then the rest. */
export type BlocksMessage = { readonly blocks: readonly CanvasBlock[] } | { readonly head: Omit<Canvas, 'blocks'> }

// A slow machine processes this many blocks without a noticeable pause.
const PART_BLOCKS = 250

declare const self: Worker

const postToPage = (message: BlocksMessage) => self.postMessage(message)

const decoder = new TextDecoder()
let text = ''

// Each message is a piece of the text, of any length; `undefined` ends the text.
self.addEventListener('message', ({ data: piece }: MessageEvent<Uint8Array | undefined>) => {
  text += decoder.decode(piece, { stream: piece !== undefined })
  if (piece !== undefined) return
  const { blocks, ...head }: Canvas = JSON.parse(text)
  for (let at = 0; at < blocks.length; at += PART_BLOCKS) postToPage({ blocks: blocks.slice(at, at + PART_BLOCKS) })
  postToPage({ head })
})
