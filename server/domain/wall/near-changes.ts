/** The changes of a wallet's blocks and of the blocks next to them, for a returning owner. */

import { NEAR_CHANGES_MAX, type NearChange } from '../../../shared/contract/wallet.ts'
import { getBlockAt, getCell, formatCoord, type BlockIndex } from '../../../shared/wall.ts'
import type { LogNumber } from './log.ts'
import { toOwner, type Agent, type Claimed, type WallView } from './wall-view.ts'

/**
 * The last changes, after a given log number, of a wallet's blocks and of their neighbours: one change per block,
 * oldest first. `next` is the number from which to continue.
 */
export type NearChanges = { readonly changes: NearChange[]; readonly next: LogNumber }

/**
 * Finds the changes after the log number `since`. The work is limited by the number of blocks on the wall, not by the
 * length of the log.
 */
export function findNearChanges(view: WallView, agent: Agent, since: LogNumber): NearChanges {
  const near: NearBlock[] = []
  for (const block of findBlocksNear(agent)) {
    const claimed = view.claimed.get(block)
    if (claimed !== undefined && claimed.changedBy > since) near.push({ block, claimed })
  }
  near.sort((one, other) => one.claimed.changedBy - other.claimed.changedBy)
  const listed = near.slice(0, NEAR_CHANGES_MAX)
  return {
    changes: listed.map((one) => toNearChange(one, agent, since)),
    next: listed.length < near.length ? (listed.at(-1)?.claimed.changedBy ?? since) : view.number,
  }
}

type NearBlock = { readonly block: BlockIndex; readonly claimed: Claimed }

function toNearChange({ block, claimed }: NearBlock, agent: Agent, since: LogNumber): NearChange {
  const { agent: owner, soldBy, changedBy, changedAt, message, link } = claimed
  return {
    number: changedBy,
    kind: soldBy > since ? 'sale' : 'repaint',
    t: changedAt,
    coord: formatCoord(block),
    yours: owner === agent,
    owner: toOwner(owner),
    message,
    link,
  }
}

/** The agent's blocks, and the eight blocks around each. */
function findBlocksNear({ blocks }: Agent): ReadonlySet<BlockIndex> {
  const near = new Set<BlockIndex>()
  for (const block of blocks) {
    const { col, row } = getCell(block)
    for (const across of [-1, 0, 1])
      for (const down of [-1, 0, 1]) {
        const other = getBlockAt(col + across, row + down)
        if (other !== undefined) near.add(other)
      }
  }
  return near
}

/** An agent's rank by its number of blocks, from 1; agents with equal numbers share a rank. */
export const rankByBlocks = ({ agents }: WallView, { blocks }: Agent): number =>
  1 + agents.filter((other) => other.blocks.length > blocks.length).length
