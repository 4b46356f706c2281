/** What both engines hold a payer to. */

/** How many unresolved purchases one payer can have: one dollar could otherwise hold the whole wall. */
export const HOLDS_MAX = 16

/** How long a receipt that could not be given waits for its payer's next request. */
export const RECEIPT_KEPT_MS = 10 * 60_000

/** How many blocks one payer's unresolved purchases can hold between them. */
export const HELD_BLOCKS_MAX = 400
