/** Finds blocks that anyone can buy now. */

import { ALL_BLOCKS, cellOf, CLAIM_ORDER, type BlockIndex } from '../../shared/wall.ts'
import type { WallView } from '../domain/wall-view.ts'
import type { Ledger } from '../ports.ts'

/** What the search looks at: what is sold, and who holds what. */
export type Searching = { readonly view: WallView; readonly ledger: Ledger }

/** At most `limit` open blocks, nearest to `near` first; without it, in the order `/blocks/next` sells them. */
export async function listUnclaimed(
  { view, ledger }: Searching,
  limit: number,
  near?: BlockIndex,
): Promise<readonly BlockIndex[]> {
  const open: BlockIndex[] = []
  for (const block of near === undefined ? CLAIM_ORDER : byDistance(near)) {
    if (open.length === limit) break
    if (!view.claimed.has(block) && (await ledger.space(block)) === 'open') open.push(block)
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
