/** Finds which blocks can be bought at this moment, without holding any of them. */

import type { Spaces } from '../../shared/contract/space.ts'
import { createLru } from '../../shared/lru.ts'
import { ASSET_SYMBOL, formatMoney } from '../../shared/money.ts'
import { type BlockIndex, formatCoord } from '../../shared/wall.ts'
import { computePrice, type Terms } from '../domain/purchase/payment.ts'
import { type Occupied, type SpaceWish, computeOccupancy, findOpenSpaces } from '../domain/wall/open-space.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { LedgerReader } from '../ports.ts'
import { shareNextRun } from '../purchase/single-flight.ts'
import type { Offer } from '../x402/terms.ts'

/** The taken blocks at a moment; the object stays the same until a block is sold, held or released. */
export type Taken = {
  /** Whether somebody owns or holds a block. */
  has(block: BlockIndex): boolean
  /** The taken blocks, prepared for searches of any size. Computed at the first call. */
  computeOccupied(): Occupied
}

type TakenBlocksDeps = {
  readonly view: WallView
  readonly ledgerReader: LedgerReader
  readonly applyNewEntries: () => Promise<void>
}

/** Reads the taken blocks, as of the call or later. */
export type TakenBlocks = () => Promise<Taken>

/** Caches the taken blocks until they change, so that most reads do not go through the whole wall. */
export function createTakenBlocks({ view, ledgerReader, applyNewEntries }: TakenBlocksDeps): TakenBlocks {
  let kept: { readonly state: string; readonly taken: Taken } | undefined
  return shareNextRun(async () => {
    // Held blocks are read first, so that a block sold meanwhile is seen as held or claimed, never as open.
    const held = await ledgerReader.listHeld()
    await applyNewEntries()
    // A claimed block stays claimed, so the number of claimed blocks identifies the set of them.
    const state = `${view.claimed.size} ${held.join()}`
    if (kept?.state !== state) kept = { state, taken: createTaken(view, held) }
    return kept.taken
  })
}

function createTaken({ claimed }: WallView, held: readonly BlockIndex[]): Taken {
  const isHeld = new Set(held)
  const has = (block: BlockIndex) => claimed.has(block) || isHeld.has(block)
  let occupied: Occupied | undefined
  return {
    has,
    computeOccupied: () =>
      (occupied ??= { taken: computeOccupancy(has), sold: computeOccupancy((block) => claimed.has(block)) }),
  }
}

/**
 * At most `limit` open blocks, nearest to `near` first; without `near`, in the order in which `/blocks/next` sells
 * them.
 */
export async function listUnclaimed(taken: TakenBlocks, limit: number, near?: BlockIndex): Promise<BlockIndex[]> {
  const now = await taken()
  return findOpenSpaces(now.computeOccupied().taken, { w: 1, h: 1, near, limit }).map(({ at }) => at)
}

/** Finds the open rectangles nearest to a position. The result stays the same until a block is taken or released. */
export type FindSpace = (wish: SpaceWish) => Promise<Spaces>

const CACHE_MAX = 64

/** Makes the search. Caches its results until a block is sold, held or released. */
export function createSpaceFinder(taken: TakenBlocks, { terms }: Pick<Offer, 'terms'>): FindSpace {
  const kept = createLru<string, Spaces>(CACHE_MAX)
  let asOf: Taken | undefined
  return async ({ w, h, near, limit }) => {
    const now = await taken()
    if (asOf !== now) kept.clear()
    asOf = now
    const key = `${w} ${h} ${near} ${limit}`
    const known = kept.get(key)
    if (known !== undefined) return known
    const found = findSpaces(now, terms, { w, h, near, limit })
    kept.set(key, found)
    return found
  }
}

function findSpaces(taken: Taken, terms: Terms, wish: SpaceWish): Spaces {
  const price = formatMoney(computePrice(terms, wish.w * wish.h))
  return {
    w: wish.w,
    h: wish.h,
    asset: ASSET_SYMBOL,
    spaces: findOpenSpaces(taken.computeOccupied().taken, wish).map(({ at, w, h }) => ({
      coord: formatCoord(at),
      order: { at: formatCoord(at), w, h },
      price,
    })),
  }
}
