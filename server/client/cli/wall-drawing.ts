/** Draws a part of the wall for a terminal, from the response to a canvas read. */

import type { Canvas } from '../../../shared/contract/canvas.ts'
import { trustPixels } from '../../../shared/pixels.ts'
import { drawBlocks } from '../../../shared/terminal.ts'
import { ALL_BLOCKS, type BlockIndex } from '../../../shared/wall.ts'

/** Draws `across` x `down` blocks around the centre, or around a block. */
export function drawWall({ blocks }: Canvas, across: number, down: number, around?: BlockIndex): string {
  // Not every supported runtime has `Uint8Array.fromBase64`.
  const decodePixels = (px: string) => trustPixels(Buffer.from(px, 'base64'))
  const painted = new Map<BlockIndex, Uint8Array | null>()
  for (const { i, px } of blocks) {
    const block = ALL_BLOCKS[i]
    if (block !== undefined) painted.set(block, px === undefined ? null : decodePixels(px))
  }
  return drawBlocks(painted, across, down, around)
}
