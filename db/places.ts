/** Where blocks and areas can be had, as both engines tell it. */

import { placeOf, type Target } from '../server/domain/purchase/target.ts'
import { nearestArea } from '../server/domain/wall/open-space.ts'
import { TOTAL_BLOCKS, type BlockIndex } from '../shared/wall.ts'

export type BlockState = 'open' | 'reserved' | 'claimed'

/** What an area is whose blocks are in these states. */
export const worstOf = (states: readonly BlockState[]): BlockState =>
  states.includes('claimed') ? 'claimed' : states.includes('reserved') ? 'reserved' : 'open'

/** Blocks that are not open, by what they are. */
export function inTheWayOf(blocks: readonly { readonly i: BlockIndex; readonly state: BlockState }[]) {
  const those = (state: BlockState) => blocks.filter((block) => block.state === state).map(({ i }) => i)
  return { taken: those('claimed'), held: those('reserved') }
}

/** Where a target would begin on an empty wall. */
export function firstPlace(target: Target): BlockIndex {
  const { at, ...size } = placeOf(target)
  const first = at === 'next' ? nearestArea(EMPTY_WALL, size) : at
  if (typeof first === 'string') throw new Error('a size that no wall has room for')
  return first
}

const EMPTY_WALL = 'o'.repeat(TOTAL_BLOCKS)
