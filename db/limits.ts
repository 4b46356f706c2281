/** What both engines hold a payer to. */

import { blocksIn, type Target } from '../server/domain/purchase/target.ts'
import { targetIn, type Size } from './rows.ts'

/** How many unresolved purchases one payer can have: one dollar could otherwise hold the whole wall. */
export const HOLDS_MAX = 16

/** How long a receipt that could not be given waits for its payer's next request. */
export const RECEIPT_KEPT_MS = 10 * 60_000

/** How many blocks one payer's unresolved purchases can hold between them. */
export const HELD_BLOCKS_MAX = 400

/** Whether a payer that holds areas of these sizes would hold too much with the target. */
export function isTooMuch(sizes: readonly Size[], target: Target): boolean {
  const held = sizes.map((size) => blocksIn(targetIn({ target: null, size })))
  return held.length >= HOLDS_MAX || held.reduce((sum, blocks) => sum + blocks, blocksIn(target)) > HELD_BLOCKS_MAX
}
