/** Brings the wall to the page. */

import type { CanvasBlock } from '../../shared/contract/canvas.ts'
import { bareWall, wallOf, withBlocks, type CanvasHead, type Wall } from '../wall/wall-model.ts'
import type { CanvasReader } from './source.ts'

// Rows arrive faster than they need to be drawn.
const DRAW_ROWS_MS = 80

/** Reads the whole wall, drawing it as it arrives; rejects when it cannot be read. */
export async function arrive(read: CanvasReader, show: (wall: Wall) => void): Promise<void> {
  let part: Wall | undefined
  let waiting: CanvasBlock[] = []
  let shownAt = 0
  const canvas = await read((head: CanvasHead, blocks) => {
    waiting.push(...blocks)
    if (part && performance.now() - shownAt < DRAW_ROWS_MS) return
    shownAt = performance.now()
    part = withBlocks(part ?? bareWall(head), waiting)
    waiting = []
    show(part)
  })
  if (canvas === 'unchanged') return
  // What has been drawn already need not be drawn again.
  show(part ? { ...withBlocks(part, waiting), complete: true } : wallOf(canvas))
}
