/** Applies changes from the service to a wall that was read earlier. */

import type { CanvasAgent } from '../../shared/contract/canvas.ts'
import type { Sale } from '../../shared/contract/feed.ts'
import type { ChangeDto } from '../../shared/contract/live.ts'
import { TOTAL_BLOCKS, isBlockIndex } from '../../shared/wall.ts'
import { addBlocks, type PaintedClaim, type Wall } from '../wall/wall-model.ts'

/** The blocks and agents with the updates that have been applied so far. */
type Draft = {
  readonly blocks: Map<number, PaintedClaim>
  readonly agents: CanvasAgent[]
  last: Sale | undefined // the newest sale among the updates
}

/**
 * The wall after changes, applied in order. The wall may already show some of them, because it is read in two parts.
 */
export function applyChanges(wall: Wall, changes: readonly ChangeDto[]): Wall {
  const draft: Draft = { blocks: new Map(), agents: [...wall.agents], last: undefined }
  // `some` would stop at the first change that has an effect, but every change must be applied.
  const noted = changes.filter((change) => applyChange(wall, draft, change))
  if (noted.length === 0) return wall
  const { agents, last } = draft
  const changed = addBlocks(wall, [...draft.blocks.values()])
  const claimed = changed.claims.size
  const { t: lastClaimedAt, seq: lastSaleId } = last ?? { t: wall.stats.lastClaimedAt, seq: wall.stats.lastSaleId }
  const stats = { claimed, remaining: TOTAL_BLOCKS - claimed, agents: agents.length, lastClaimedAt, lastSaleId }
  return { ...changed, agents, stats }
}

/** Applies an update; returns whether it changes anything. */
function applyChange(wall: Wall, draft: Draft, change: ChangeDto): boolean {
  const { blocks, agents } = draft
  if (change.kind === 'identity') {
    const index = agents.findIndex(({ id }) => id === change.agent.id)
    const known = agents[index]
    if (known !== undefined) agents[index] = { ...known, ...change.agent }
    return known !== undefined
  }
  const { i, t, m, l, px } = change
  if (change.kind === 'sale' && change.seq > (draft.last ?? { seq: wall.stats.lastSaleId }).seq) {
    draft.last = change
    blocks.set(i, { i, a: findOrAddOwner(agents, change), t, m, l, px })
    return true
  }
  // Pictures are read before sales, so the picture of a known sale may still be missing.
  const claim = blocks.get(i) ?? (isBlockIndex(i) ? wall.claims.get(i) : undefined)
  if (claim === undefined) return false
  blocks.set(i, { i, a: claim.a, t: claim.t, m, l, px })
  return true
}

/** Returns the owner's index among the agents; stores the owner as the sale describes it, with one more block. */
function findOrAddOwner(agents: CanvasAgent[], { agent }: Sale): number {
  const known = agents.findIndex(({ id }) => id === agent.id)
  const index = known === -1 ? agents.length : known
  agents[index] = { ...agent, blocks: (agents[index]?.blocks ?? 0) + 1 }
  return index
}
