/** The wall's data, as far as the page has read it. */

import type { Canvas, CanvasAgent, CanvasBlock, CanvasStats } from '../../shared/contract/canvas.ts'
import { PIXELS_PER_BLOCK } from '../../shared/pixels.ts'
import { isBlockIndex, type BlockIndex } from '../../shared/wall.ts'
import { createTexture, isOpenAt, paintBlock, paintBytes, type IndexTexture } from './pixel-buffer.ts'

/** The owner, sale time, message and link of a claimed block; its picture is in the texture. */
export type Claim = Pick<CanvasBlock, 'i' | 'a' | 't'> & Words
type Words = { readonly m?: string | undefined; readonly l?: string | undefined }

/** A claimed block with its picture. */
export type PaintedClaim = Claim & { readonly px?: string | undefined }

/** The canvas without its blocks: pricing, statistics and agents. */
export type CanvasHead = Pick<Wall, 'pricing' | 'stats' | 'agents'>

/**
 * The wall as far as the page has read it. Updates change `claims` and `texture` in place, so that one sale does not
 * copy a megabyte. A new `Wall` object means that something has changed.
 */
export type Wall = {
  readonly pricing: Canvas['pricing']
  readonly stats: CanvasStats
  readonly agents: readonly CanvasAgent[]
  readonly claims: Map<BlockIndex, Claim>
  readonly texture: IndexTexture
  /** Blocks that differ from the previous wall; all blocks if undefined. */
  readonly changed: readonly BlockIndex[] | undefined
  readonly complete: boolean // whether every block has been read
}

/** Whether every block is sold; false until the whole wall has arrived. */
export const isSoldOut = (wall: Wall | undefined): boolean => wall?.complete === true && wall.stats.remaining === 0

/** A wall whose blocks have not arrived yet. */
export function createWall({ pricing, stats, agents }: CanvasHead): Wall {
  return { pricing, stats, agents, claims: new Map(), texture: createTexture(), changed: undefined, complete: false }
}

/** Stores new or changed blocks and draws their pictures; returns the wall as a new object. */
export function addBlocks(wall: Wall, blocks: readonly PaintedClaim[]): Wall {
  const changed = blocks.flatMap(({ px, ...claim }) => {
    if (!isBlockIndex(claim.i)) return []
    wall.claims.set(claim.i, claim)
    paintBlock(wall.texture, claim.i, px)
    return [claim.i]
  })
  return { ...wall, changed }
}

/** In the canvas's bytes, a block without a picture consists only of this byte, and no picture begins with it. */
const UNPAINTED = 255

/** Draws the pictures of consecutive blocks, starting at block `first`; returns the wall as a new object. */
export function addPictures(wall: Wall, first: number, bytes: Uint8Array): Wall {
  const changed: BlockIndex[] = []
  for (let at = 0, block = first; at + PIXELS_PER_BLOCK <= bytes.length; at += PIXELS_PER_BLOCK, block++) {
    if (bytes[at] === UNPAINTED || !isBlockIndex(block)) continue
    paintBytes(wall.texture, block, bytes, at)
    changed.push(block)
  }
  return { ...wall, changed }
}

/** Stores claims; a claimed block whose picture has not been read yet is drawn as one without a picture. */
export function addClaims(wall: Wall, claims: Iterable<Claim>): Wall {
  const changed: BlockIndex[] = []
  for (const claim of claims) {
    if (!isBlockIndex(claim.i)) continue
    wall.claims.set(claim.i, claim)
    if (!isOpenAt(wall.texture, claim.i)) continue
    paintBlock(wall.texture, claim.i, undefined)
    changed.push(claim.i)
  }
  return { ...wall, changed }
}

type CanvasRest = CanvasHead & { readonly blocks: readonly Claim[] }

/** Builds the whole wall from its pictures and its other data. */
export function buildWall({ pixels, blocks }: { readonly pixels: Uint8Array; readonly blocks: CanvasRest }): Wall {
  const wall = addClaims(addPictures(createWall(blocks), 0, pixels), blocks.blocks)
  return { ...wall, changed: undefined, complete: true }
}
