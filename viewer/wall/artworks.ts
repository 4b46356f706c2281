/** The wall's artworks: their blocks, owners, messages and times, and their bounds and outlines. */

import { BLOCK_SIZE, getBlockAt, getCell, WIDTH, type BlockIndex } from '../../shared/wall.ts'
import { findWorkAround, type Work } from '../../shared/works.ts'
import { WHOLE_WALL, toRect, type Rect } from '../camera/camera.ts'
import { NO_PICTURE_FRAME, readPicture } from './pixel-buffer.ts'
import type { Wall } from './wall-model.ts'

/** An artwork: its blocks, owner, message, link and sale times. */
export type Artwork = {
  readonly blocks: Work
  readonly agent: number // index of the owner in `agents`
  readonly message: string | undefined // of the first of its blocks that has a message
  readonly link: string | undefined // of the first of its blocks that has a link
  readonly since: number // when its first block was sold, in Unix milliseconds
  readonly until: number // when its last block was sold
}

/** The blocks of a block's artwork that were sold by `at`; empty if the block itself was not sold by then. */
export function findWork({ claims }: Pick<Wall, 'claims'>, block: BlockIndex, at = Infinity): Work {
  const claim = claims.get(block)
  if (claim === undefined || claim.t > at) return []
  return findWorkAround(block, (other) => {
    const { a, t } = claims.get(other) ?? { a: -1, t: 0 }
    return a === claim.a && t <= at
  })
}

/** The artwork that a block belongs to, as of `at`; `undefined` if the block was not sold by then. */
export function findArtwork(wall: Wall, block: BlockIndex, at = Infinity): Artwork | undefined {
  const blocks = findWork(wall, block, at)
  return blocks.length === 0 ? undefined : createArtwork(wall, blocks)
}

const known = new WeakMap<Wall, readonly Artwork[]>()

/** Every artwork of a wall, newest first. */
export function listArtworks(wall: Wall): readonly Artwork[] {
  const ready = known.get(wall)
  if (ready !== undefined) return ready
  const left = new Set(wall.claims.keys())
  const found: Artwork[] = []
  for (const block of left) {
    const artwork = findArtwork(wall, block)
    for (const taken of artwork?.blocks ?? []) left.delete(taken)
    if (artwork !== undefined) found.push(artwork)
  }
  const newestFirst = found.toSorted((a, b) => b.until - a.until)
  known.set(wall, newestFirst)
  return newestFirst
}

function createArtwork({ claims }: Wall, blocks: Work): Artwork {
  const sold = blocks.flatMap((block) => claims.get(block) ?? [])
  const times = sold.map(({ t }) => t)
  return {
    blocks,
    agent: sold[0]?.a ?? 0,
    message: sold.find(({ m }) => m !== undefined)?.m,
    link: sold.find(({ l }) => l !== undefined)?.l,
    since: Math.min(...times),
    until: Math.max(...times),
  }
}

/** Whether a work has a picture. It has none if its owner painted none, or if the operator hid it. */
export const isPainted = ({ texture }: Wall, { blocks }: Pick<Artwork, 'blocks'>): boolean =>
  blocks.some((block) => readPicture(texture, block)[0] !== NO_PICTURE_FRAME)

/** Every block that an agent owns. */
export function listBlocks({ claims }: Wall, agent: number): BlockIndex[] {
  return [...claims].filter(([, claim]) => claim.a === agent).map(([block]) => block)
}

/** The smallest area that contains all of these blocks; the whole wall if there are none. */
export function computeBounds(blocks: readonly BlockIndex[]): Rect {
  if (blocks.length === 0) return WHOLE_WALL
  const cells = blocks.map(getCell)
  const cols = cells.map(({ col }) => col)
  const rows = cells.map(({ row }) => row)
  const [col, row] = [Math.min(...cols), Math.min(...rows)]
  return toRect({ col, row, w: Math.max(...cols) + 1 - col, h: Math.max(...rows) + 1 - row })
}

/** The smallest area of full-width lines that contains all of these blocks. */
export const computeLineBounds = (blocks: readonly BlockIndex[]): Rect => ({
  ...computeBounds(blocks),
  left: 0,
  right: WIDTH,
})

/** The outline of a set of blocks, as an SVG path in wall pixels. */
export function traceEdges(blocks: readonly BlockIndex[]): string {
  const own = new Set(blocks)
  const lines = blocks.flatMap((block) => {
    const { col, row } = getCell(block)
    const isInner = (right: number, down: number) => {
      const next = getBlockAt(col + right, row + down)
      return next !== undefined && own.has(next)
    }
    const [x, y] = [col * BLOCK_SIZE, row * BLOCK_SIZE]
    return [
      isInner(0, -1) ? '' : `M${x} ${y}h${BLOCK_SIZE}`,
      isInner(0, 1) ? '' : `M${x} ${y + BLOCK_SIZE}h${BLOCK_SIZE}`,
      isInner(-1, 0) ? '' : `M${x} ${y}v${BLOCK_SIZE}`,
      isInner(1, 0) ? '' : `M${x + BLOCK_SIZE} ${y}v${BLOCK_SIZE}`,
    ]
  })
  return lines.join('')
}
