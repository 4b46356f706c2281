/** The news: the changes since the visitor's last visit, the sales of today, or else the last sale. Pure. */

import type { BlockIndex } from '../../shared/wall.ts'
import { listNeighbours } from '../../shared/works.ts'
import { findArtwork, listArtworks, isPainted, type Artwork } from './artworks.ts'
import type { Wall } from './wall-model.ts'

/**
 * The blocks that have changed since the visitor's last visit; `since` is the time of that visit in Unix milliseconds.
 */
export type Missed = { readonly since: number; readonly blocks: ReadonlySet<BlockIndex> }

/** Adds the changes between two walls to those that the visitor missed: blocks that were sold or repainted. */
export function addMissedChanges(before: Wall | undefined, wall: Wall, since: number, missed?: Missed): Missed {
  const { claims, changed } = wall
  // If the whole wall was read again, only the new sales can be recognised, not the repaints.
  const soldBefore = before?.stats.lastClaimedAt ?? 0
  const found = changed ?? [...claims].flatMap(([block, { t }]) => (t > soldBefore ? [block] : []))
  return { since, blocks: new Set([...(missed?.blocks ?? []), ...found]) }
}

/**
 * The new blocks, the number of their agents, and since when the blocks are new. If nothing is new, the blocks are
 * those of the last sale, which `since` then describes.
 */
export type News = {
  readonly blocks: readonly BlockIndex[]
  readonly agents: number
  readonly since: number | 'today' | { readonly lastAt: number; readonly agent: number }
}

/**
 * The news of a wall; `midnight` is the start of today, in Unix milliseconds. Returns `undefined` before the first
 * sale.
 */
export function findNews({ claims }: Pick<Wall, 'claims'>, midnight: number, missed?: Missed): News | undefined {
  const countOwners = (blocks: readonly BlockIndex[]) => new Set(blocks.map((block) => claims.get(block)?.a)).size
  const known = [...(missed?.blocks ?? [])].filter((block) => claims.has(block))
  if (missed !== undefined && known.length > 0)
    return { blocks: known, agents: countOwners(known), since: missed.since }
  let last = { t: -1, a: -1 }
  for (const claim of claims.values()) if (claim.t > last.t) last = claim
  if (last.t < 0) return undefined
  const isToday = last.t >= midnight
  const from = Math.min(midnight, last.t)
  const blocks: BlockIndex[] = []
  for (const [block, { t }] of claims) if (t >= from) blocks.push(block)
  return { blocks, agents: countOwners(blocks), since: isToday ? 'today' : { lastAt: last.t, agent: last.a } }
}

const STOPS_MAX = 12

/**
 * The stops of a tour through new blocks, each the first block of its work. The painted works with the most new blocks
 * come first. The last stop is the open block nearest to the newest work, if there is one.
 */
export function listTourStops(wall: Wall, blocks: readonly BlockIndex[]): readonly BlockIndex[] {
  const left = new Set(blocks)
  const works: { readonly work: Artwork; readonly fresh: number }[] = []
  for (const block of left) {
    const work = findArtwork(wall, block)
    const fresh = work?.blocks.filter((own) => left.delete(own)).length ?? 0
    if (work !== undefined && isPainted(wall, work)) works.push({ work, fresh })
  }
  const largest = works.toSorted((a, b) => b.fresh - a.fresh).slice(0, STOPS_MAX)
  const [newest] = listArtworks(wall)
  return [
    ...largest.map(({ work }) => work),
    ...(newest ? [{ blocks: findNearestOpenBlock(wall, newest) }] : []),
  ].flatMap(({ blocks: [first] }) => first ?? [])
}

/** The open block that is the fewest steps away from a work, as a list; empty if every block is sold. */
function findNearestOpenBlock({ claims }: Wall, { blocks }: Artwork): readonly BlockIndex[] {
  const seen = new Set(blocks)
  // A loop over a set also visits the entries that are added during the loop.
  for (const block of seen) {
    if (!claims.has(block)) return [block]
    for (const next of listNeighbours(block)) seen.add(next)
  }
  return []
}
