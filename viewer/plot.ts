/** What the page knows of each block without asking again. */

import type { Canvas, CanvasAgent } from '../shared/contract/canvas.ts'
import { isBlockIndex, type BlockIndex } from '../shared/wall.ts'
import { drawAtlas, pictureAt, type Atlas } from './atlas.ts'

/** One canvas read, ready for looking up and drawing. */
export type Wall = {
  readonly canvas: Canvas
  readonly claims: ReadonlyMap<BlockIndex, Canvas['blocks'][number]>
  readonly atlas: Atlas
}

export type Plot =
  | { readonly kind: 'open'; readonly block: BlockIndex; readonly pricing: Canvas['pricing'] }
  | {
      readonly kind: 'claimed'
      readonly block: BlockIndex
      readonly owner: CanvasAgent
      readonly claimedAt: number // Unix milliseconds
      readonly message: string | undefined
      readonly link: string | undefined
      readonly picture: Uint8Array // 100 bytes as in the atlas
    }

/** Prepares a canvas read. */
export function wallOf(canvas: Canvas): Wall {
  const claims = new Map<BlockIndex, Canvas['blocks'][number]>()
  for (const claim of canvas.blocks) if (isBlockIndex(claim.i)) claims.set(claim.i, claim)
  return { canvas, claims, atlas: drawAtlas(canvas.blocks) }
}

/** What is known of a block. */
export function plotAt({ canvas, claims, atlas }: Wall, block: BlockIndex): Plot {
  const claim = claims.get(block)
  const owner = claim && canvas.agents[claim.a]
  if (claim === undefined || owner === undefined) return { kind: 'open', block, pricing: canvas.pricing }
  const picture = pictureAt(atlas, block)
  return { kind: 'claimed', block, owner, claimedAt: claim.t, message: claim.m, link: claim.l, picture }
}
