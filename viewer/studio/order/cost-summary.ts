/** The covered blocks by kind, their price, and the possible action. Pure. */

import { formatCount } from '../../../shared/money.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { isSoldOut, type Wall } from '../../wall/wall-model.ts'
import { listCoveredBlocks, type Sketch } from '../sketch.ts'

/** The kinds of blocks under a picture: `others` are owned by other wallets. */
export type Standing = 'open' | 'others' | 'mine'

/** The number of covered blocks of each kind; `held` counts those that somebody is paying for. */
export type CoveredCounts = Readonly<Record<Standing | 'held', number>>

/** The possible action for a picture at its position; the action always applies to the picture's whole area. */
export type Deal = 'buy' | 'repaint' | 'neither'

/** The kind of one block. */
export function getStanding({ wall, mine }: Sketch, block: BlockIndex): Standing {
  if (mine.has(block)) return 'mine'
  return wall?.claims.has(block) ? 'others' : 'open'
}

/** Counts the covered blocks of each kind. */
export function countCoveredBlocks(sketch: Sketch): CoveredCounts {
  const counts = { open: 0, others: 0, mine: 0 }
  for (const block of listCoveredBlocks(sketch)) counts[getStanding(sketch, block)]++
  return { ...counts, open: counts.open - sketch.held, held: sketch.held }
}

const names: Readonly<Record<keyof CoveredCounts, string>> = {
  open: 'available',
  mine: 'yours',
  held: 'being bought by others',
  others: 'owned by others',
}

/** The kinds of covered blocks, each with a text such as `3 available`. */
export const describeCoveredBlocks = (counts: CoveredCounts): { readonly kind: string; readonly text: string }[] =>
  (['open', 'mine', 'held', 'others'] as const)
    .filter((kind) => counts[kind] > 0)
    .map((kind) => ({ kind, text: `${formatCount(counts[kind])} ${names[kind]}` }))

/** The possible action; `neither` until the whole wall is known. */
export function chooseDeal(sketch: Sketch): Deal {
  if (!sketch.wall?.complete) return 'neither'
  const { open, held, others, mine } = countCoveredBlocks(sketch)
  if (held + others + mine === 0) return 'buy'
  return open + held + others === 0 ? 'repaint' : 'neither'
}

/** The price of this many blocks of a wall, in dollars with cents. */
export const formatTotal = ({ pricing }: Pick<Wall, 'pricing'>, blocks: number): string =>
  (blocks * Number(pricing.perBlock)).toFixed(2)

const SOLD_OUT =
  'Every block is sold. If you own some, enter your wallet address and move the picture onto your blocks.'

/**
 * Explains why a picture can be neither bought nor repainted at its position, and how to change that; empty if either
 * is possible.
 */
export function chooseAdvice(sketch: Sketch): string {
  if (sketch.wall === undefined || chooseDeal(sketch) !== 'neither') return ''
  if (isSoldOut(sketch.wall)) return SOLD_OUT
  const counts = countCoveredBlocks(sketch)
  const words = describeCoveredBlocks(counts).map(({ text }) => text)
  const whose =
    counts.others > 0 && sketch.wallet === undefined ? ' If the sold blocks are yours, enter your wallet address.' : ''
  return `Blocks under the picture: ${words.join(', ')}. Move the picture to a place where all blocks are available, or all are yours.${whose}`
}
