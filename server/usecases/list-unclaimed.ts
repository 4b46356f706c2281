/** Finds blocks that anyone can buy now. */

import { ALL_BLOCKS, cellOf, CLAIM_ORDER, type BlockIndex } from '../../shared/wall.ts'
import { takenBlocks, type Looking } from './open-blocks.ts'

/** At most `limit` open blocks, nearest to `near` first; without it, in the order `/blocks/next` sells them. */
export async function listUnclaimed(looking: Looking, limit: number, near?: BlockIndex): Promise<BlockIndex[]> {
  const isTaken = await takenBlocks(looking)
  const open: BlockIndex[] = []
  for (const block of near === undefined ? CLAIM_ORDER : byDistance(near)) {
    if (open.length === limit) break
    if (!isTaken(block)) open.push(block)
  }
  return open
}

/** Every block, nearest to `near` first; ties by index. */
function byDistance(near: BlockIndex): readonly BlockIndex[] {
  const from = cellOf(near)
  const distance = (block: BlockIndex) => {
    const { col, row } = cellOf(block)
    return (col - from.col) ** 2 + (row - from.row) ** 2
  }
  return ALL_BLOCKS.toSorted((a, b) => distance(a) - distance(b) || a - b)
}
