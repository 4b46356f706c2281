/** Which blocks can be bought at this moment. Nothing is held by looking. */

import type { BlockIndex } from '../../shared/wall.ts'
import type { WallView } from '../domain/wall-view.ts'
import type { Books } from '../ports.ts'

/** What looking for open blocks needs. */
export type Looking = {
  readonly view: WallView
  readonly books: Books
  readonly advance: () => Promise<void>
}

/** Tells of any block whether somebody owns or holds it. */
export async function takenBlocks({ view, books, advance }: Looking): Promise<(block: BlockIndex) => boolean> {
  // In this order, a block that is sold meanwhile is found held or claimed, and never open.
  const held = new Set(await books.held())
  await advance()
  return (block) => held.has(block) || view.claimed.has(block)
}
