/** What the page knows of each block without asking again. */

import type { Canvas, CanvasAgent, CanvasBlock, CanvasStats } from '../../shared/contract/canvas.ts'
import { isBlockIndex, type BlockIndex } from '../../shared/wall.ts'
import { blankAtlas, paintBlock, pictureAt, type Atlas } from './pixel-buffer.ts'

/** A canvas read without its blocks. */
export type CanvasHead = Omit<Canvas, 'blocks' | 'palette' | 'canvas'>

/**
 * The wall as far as it is known. News alters `claims` and `atlas` in place, so that one sale does not copy a megabyte; a
 * new object says that something has changed.
 */
export type Wall = {
  readonly pricing: Canvas['pricing']
  readonly stats: CanvasStats
  readonly agents: readonly CanvasAgent[]
  readonly claims: Map<BlockIndex, CanvasBlock>
  readonly atlas: Atlas
  readonly changed: readonly BlockIndex[] | undefined // unlike in the wall before this one; all of them when undefined
  readonly complete: boolean // whether the whole read has arrived
}

export type Plot =
  | {
      readonly kind: 'open'
      readonly block: BlockIndex
      readonly pricing: Canvas['pricing']
      readonly soldLater: boolean // open at the moment that is shown, but not any more
    }
  | {
      readonly kind: 'claimed'
      readonly block: BlockIndex
      readonly agent: number // index of the owner in `agents`
      readonly owner: CanvasAgent
      readonly claimedAt: number // Unix milliseconds
      readonly message: string | undefined
      readonly link: string | undefined
      readonly picture: Uint8Array // 100 bytes as in the atlas
    }

/** A wall whose blocks have not arrived yet. */
export function bareWall({ pricing, stats, agents }: CanvasHead): Wall {
  return { pricing, stats, agents, claims: new Map(), atlas: blankAtlas(), changed: undefined, complete: false }
}

/** The wall with more of its blocks. */
export function withBlocks(wall: Wall, blocks: readonly CanvasBlock[]): Wall {
  const changed = blocks.flatMap((claim) => {
    if (!isBlockIndex(claim.i)) return []
    wall.claims.set(claim.i, claim)
    paintBlock(wall.atlas, claim.i, claim.px)
    return [claim.i]
  })
  return { ...wall, changed }
}

/** Prepares a whole canvas read. */
export function wallOf(canvas: Canvas): Wall {
  return { ...withBlocks(bareWall(canvas), canvas.blocks), changed: undefined, complete: true }
}

/** What is known of a block, at a moment in Unix milliseconds or now. */
export function plotAt({ agents, pricing, claims, atlas }: Wall, block: BlockIndex, at = Infinity): Plot {
  const claim = claims.get(block)
  const owner = claim && agents[claim.a]
  if (claim === undefined || owner === undefined) return { kind: 'open', block, pricing, soldLater: false }
  if (claim.t > at) return { kind: 'open', block, pricing, soldLater: true }
  const { a: agent, t: claimedAt, m: message, l: link } = claim
  return { kind: 'claimed', block, agent, owner, claimedAt, message, link, picture: pictureAt(atlas, block) }
}
