/** What happened lately, told by the wall's own sales. Pure. */

import { TOTAL_BLOCKS } from '../../shared/wall.ts'
import type { Wall } from './wall-model.ts'

/** How many blocks were sold since a moment, and who bought the last of all, and when. */
type News = { readonly sold: number; readonly agent: number; readonly soldAt: number }

/** The news since a moment in Unix milliseconds; `undefined` before the first sale. */
export function newsSince({ claims }: Pick<Wall, 'claims'>, since: number): News | undefined {
  let sold = 0
  let last: News | undefined
  for (const { a: agent, t: soldAt } of claims.values()) {
    if (soldAt >= since) sold++
    if (last === undefined || soldAt > last.soldAt) last = { sold, agent, soldAt }
  }
  return last && { ...last, sold }
}

/** For how long a work is fresh after its last sale. */
const FRESH_MS = 3_600_000

/** How fresh each block is, one byte a block: 255 for one just sold, 0 for one that was sold an hour ago or is open. */
export function freshness({ claims }: Pick<Wall, 'claims'>, now: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(TOTAL_BLOCKS)
  for (const [block, { t }] of claims) {
    const left = 1 - Math.max(0, now - t) / FRESH_MS
    if (left > 0) bytes[block] = Math.ceil(255 * left)
  }
  return bytes
}
