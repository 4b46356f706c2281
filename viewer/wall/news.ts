/** What happened lately, told by the wall's own sales. Pure. */

import { TOTAL_BLOCKS, isBlockIndex } from '../../shared/wall.ts'
import { workAt } from './artworks.ts'
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

/** For how long a block is fresh after its sale. */
const FRESH_MS = 3_600_000

// So many of the newest works glow. Where more than this share of what is sold is fresh, as in a wall's first hour, none does:
// their lights would run together.
const GLOWING_WORKS = 5
const FRESH_SHARE = 0.1

/** How brightly each block glows, one byte a block: 255 for one that was just sold, 0 after an hour, and for all but the newest works. */
export function freshness(wall: Pick<Wall, 'claims'>, now: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(TOTAL_BLOCKS)
  const { claims } = wall
  const fresh = [...claims.values()].filter(({ t }) => t > now - FRESH_MS).toSorted((a, b) => b.t - a.t)
  if (fresh.length > claims.size * FRESH_SHARE) return bytes
  let works = 0
  for (const { i } of fresh) {
    if (!isBlockIndex(i) || bytes[i] !== 0) continue
    if (works++ === GLOWING_WORKS) break
    for (const block of workAt(wall, i)) bytes[block] = brightness(claims.get(block)?.t ?? 0, now)
  }
  return bytes
}

const brightness = (soldAt: number, now: number) =>
  Math.ceil(255 * Math.max(0, 1 - Math.max(0, now - soldAt) / FRESH_MS))
