/** What the covered blocks are, and what they cost. Pure. */

import { PRICE } from '../../shared/money.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { covered, type Sketch } from './sketch.ts'

/** What a block is to whoever paints: `held` is being bought by somebody, `others` is owned by another wallet. */
export type Standing = 'open' | 'held' | 'others' | 'mine'

/** The covered blocks by what they are, each list row by row. */
export type Tally = Readonly<Record<Standing, readonly BlockIndex[]>>

/** What one block is. */
export function standingOf({ wall, mine, held }: Sketch, block: BlockIndex): Standing {
  if (mine.has(block)) return 'mine'
  if (wall?.claims.has(block)) return 'others'
  return held.has(block) ? 'held' : 'open'
}

/** All covered blocks. */
export function tallyOf(sketch: Sketch): Tally {
  const tally: Record<Standing, BlockIndex[]> = { open: [], held: [], others: [], mine: [] }
  for (const block of covered(sketch)) tally[standingOf(sketch, block)].push(block)
  return tally
}

/** What so many blocks cost, in dollars with cents. */
export const priceOf = (blocks: number): string => (blocks * Number(PRICE)).toFixed(2)
