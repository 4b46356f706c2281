/**
 * Finds blocks that somebody is paying for right now. The canvas read knows owners only, and the service tells of
 * rectangles whether all of them can be bought, so what is not wholly open is halved until the held blocks are left.
 */

import { blockAt, type BlockIndex } from '../../shared/wall.ts'
import { isAllOpen } from './service.ts'
import { covered, type Sketch, type Size } from './sketch.ts'

type Part = { readonly at: { readonly col: number; readonly row: number }; readonly size: Size }

// Held blocks are few and held for seconds. What this many questions leave unclear counts as open.
const QUESTIONS_MAX = 40

/** The covered blocks that are neither owned nor open. */
export async function heldBlocks(sketch: Sketch, signal: AbortSignal): Promise<Set<BlockIndex>> {
  const held = new Set<BlockIndex>()
  const parts: Part[] = [{ at: sketch.at, size: sketch.size }]
  let questions = 0
  for (const part of parts) {
    const owned = covered(part).filter((block) => sketch.wall?.claims.has(block)).length
    const isOne = part.size.w === 1 && part.size.h === 1
    if (isOne && owned > 0) continue
    if (owned > 0) {
      // Of a picture that lies mostly on owned blocks little is left to ask about.
      if (owned < part.size.w * part.size.h) parts.push(...halves(part))
      continue
    }
    if (++questions > QUESTIONS_MAX || signal.aborted) break
    if (await isAllOpen(part.at, part.size, middleOf(part))) continue
    if (isOne) held.add(middleOf(part))
    else parts.push(...halves(part))
  }
  return held
}

function halves({ at, size: { w, h } }: Part): Part[] {
  if (w >= h) {
    const left = Math.ceil(w / 2)
    return [
      { at, size: { w: left, h } },
      { at: { ...at, col: at.col + left }, size: { w: w - left, h } },
    ]
  }
  const top = Math.ceil(h / 2)
  return [
    { at, size: { w, h: top } },
    { at: { ...at, row: at.row + top }, size: { w, h: h - top } },
  ]
}

/** Of two rectangles as near to this block, the one meant comes first by its index. */
function middleOf({ at, size }: Part): BlockIndex {
  const block = blockAt(at.col + Math.floor(size.w / 2), at.row + Math.floor(size.h / 2))
  if (block === undefined) throw new RangeError('a part of the picture is off the wall')
  return block
}
