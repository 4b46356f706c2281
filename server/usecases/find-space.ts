/** Finds room for a picture of several blocks. */

import type { Spaces } from '../../shared/contract/space.ts'
import { ASSET_SYMBOL, PRICE } from '../../shared/money.ts'
import { coordOf } from '../../shared/wall.ts'
import { buyingOrder, openSpaces, type SpaceWish } from '../domain/open-space.ts'
import { takenBlocks, type Looking } from './open-blocks.ts'

/** The open rectangles nearest to a place, none when there is none. */
export async function findSpace(looking: Looking, wish: SpaceWish): Promise<Spaces> {
  const isTaken = await takenBlocks(looking)
  const price = (wish.w * wish.h * Number(PRICE)).toFixed(2)
  return {
    w: wish.w,
    h: wish.h,
    asset: ASSET_SYMBOL,
    note: 'Nothing is held: another buyer may be quicker. Buy block by block in the order given.',
    spaces: openSpaces(isTaken, wish).map((rectangle) => ({
      coord: coordOf(rectangle.at),
      blocks: buyingOrder(rectangle).map((block) => coordOf(block)),
      price,
    })),
  }
}
