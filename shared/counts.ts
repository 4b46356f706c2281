/** Counts and prices as the page shows them, and the line that says how much of the wall is sold. */

import { TOTAL_BLOCKS } from './wall.ts'

/** `1,234`. */
export const countText = (count: number): string => String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')

/** `1 block`, `12 blocks`. */
export const blocksText = (count: number): string => `${countText(count)} ${count === 1 ? 'block' : 'blocks'}`

/** What blocks cost, as the wall shows money: `$1`, `$12.50`. */
export function priceText(perBlock: string, blocks = 1): string {
  const price = (Number(perBlock) * blocks).toFixed(2)
  return `$${price.endsWith('.00') ? countText(Number(price)) : price}`
}

/** How many blocks are sold, and for how much each. */
export const summaryOf = (sold: number, perBlock: string): string =>
  sold === TOTAL_BLOCKS
    ? `All ${blocksText(sold)} are sold, at ${priceText(perBlock)} each.`
    : `${countText(sold)} of ${blocksText(TOTAL_BLOCKS)} sold, ${priceText(perBlock)} each.`
