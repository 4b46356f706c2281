/** Finds blocks that anyone can buy now. */

import type { BlockIndex } from '../../shared/wall.ts'
import { openSpaces } from '../domain/wall/open-space.ts'
import type { TakenBlocks } from './open-blocks.ts'

/** At most `limit` open blocks, nearest to `near` first; without it, in the order `/blocks/next` sells them. */
export async function listUnclaimed(taken: TakenBlocks, limit: number, near?: BlockIndex): Promise<BlockIndex[]> {
  const now = await taken()
  return openSpaces(now.occupancy(), { w: 1, h: 1, near, limit }).map(({ at }) => at)
}
