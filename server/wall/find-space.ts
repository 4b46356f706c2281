/** Finds room for a picture of several blocks. */

import type { Spaces } from '../../shared/contract/space.ts'
import { lru } from '../../shared/lru.ts'
import { ASSET_SYMBOL, moneyText } from '../../shared/money.ts'
import { coordOf } from '../../shared/wall.ts'
import { buyingOrder, openSpaces, type SpaceWish } from '../domain/wall/open-space.ts'
import type { Offer } from '../x402/terms.ts'
import type { Taken, TakenBlocks } from './open-blocks.ts'

/** Finds the open rectangles nearest to a place. The answer stays the same until a block is taken or released. */
export type FindSpace = (wish: SpaceWish) => Promise<Spaces>

// The largest answers have some 150 kB.
const KEPT_MAX = 64

/** Makes the search. Keeps its answers until a block is sold, held or released. */
export function spaceFinder(taken: TakenBlocks, { terms }: Pick<Offer, 'terms'>): FindSpace {
  const kept = lru<string, Spaces>(KEPT_MAX)
  let asOf: Taken | undefined
  return async ({ w, h, near, limit }) => {
    const now = await taken()
    if (asOf !== now) kept.clear()
    asOf = now
    const key = `${w} ${h} ${near} ${limit}`
    const known = kept.get(key)
    if (known !== undefined) return known
    const found = spacesIn(now, terms.amount, { w, h, near, limit })
    kept.set(key, found)
    return found
  }
}

function spacesIn(taken: Taken, perBlock: bigint, wish: SpaceWish): Spaces {
  const price = moneyText(BigInt(wish.w * wish.h) * perBlock)
  return {
    w: wish.w,
    h: wish.h,
    asset: ASSET_SYMBOL,
    note: 'Nothing is held: another buyer may be quicker. Buy block by block in the order given.',
    spaces: openSpaces(taken.occupied().taken, wish).map((rectangle) => ({
      coord: coordOf(rectangle.at),
      blocks: buyingOrder(rectangle).map((block) => coordOf(block)),
      price,
    })),
  }
}
