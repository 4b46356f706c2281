/** Works: blocks of one owner that touch each other, which together are one picture. */

import { BLOCK_SIZE, COLS, ROWS, blockAt, cellOf, type BlockIndex } from '../../shared/wall.ts'
import type { Area } from '../camera/camera.ts'
import type { Wall } from './wall-model.ts'

/** Blocks that hang together, in row-major order. */
export type Work = readonly BlockIndex[]

const steps = [
  [-1, 0],
  [1, 0],
  [0, -1],
  [0, 1],
] as const

/** Every work among some blocks, the largest first. */
export function worksOf(blocks: Iterable<BlockIndex>): Work[] {
  const left = new Set(blocks)
  const works: Work[] = []
  for (const block of left) works.push(takeWork(left, block))
  return works.toSorted((a, b) => b.length - a.length)
}

/** The work a block belongs to; of an open block, none. */
export function workAt(wall: Wall, block: BlockIndex): Work {
  const claim = wall.claims.get(block)
  return claim === undefined ? [] : takeWork(new Set(blocksOf(wall, claim.a)), block)
}

/** Takes a block and all that hang together with it out of `left`. */
function takeWork(left: Set<BlockIndex>, from: BlockIndex): Work {
  const found = [from]
  left.delete(from)
  for (const block of found) {
    const { col, row } = cellOf(block)
    for (const [right, down] of steps) {
      const next = blockAt(col + right, row + down)
      if (next !== undefined && left.delete(next)) found.push(next)
    }
  }
  return found.toSorted((a, b) => a - b)
}

/** Every block of an agent. */
export function blocksOf({ claims }: Wall, agent: number): BlockIndex[] {
  return [...claims].filter(([, claim]) => claim.a === agent).map(([block]) => block)
}

/** The smallest area that holds all of some blocks; the whole wall for none. */
export function areaOf(blocks: readonly BlockIndex[]): Area {
  const cells = blocks.length === 0 ? wholeWall : blocks.map(cellOf)
  const cols = cells.map(({ col }) => col)
  const rows = cells.map(({ row }) => row)
  return {
    left: Math.min(...cols) * BLOCK_SIZE,
    top: Math.min(...rows) * BLOCK_SIZE,
    right: (Math.max(...cols) + 1) * BLOCK_SIZE,
    bottom: (Math.max(...rows) + 1) * BLOCK_SIZE,
  }
}

const wholeWall = [
  { col: 0, row: 0 },
  { col: COLS - 1, row: ROWS - 1 },
]

/** The edges of blocks whose neighbour there is none of them, as an SVG path in wall pixels. */
export function edgesOf(blocks: readonly BlockIndex[]): string {
  const own = new Set(blocks)
  const lines = blocks.flatMap((block) => {
    const { col, row } = cellOf(block)
    const isInner = (right: number, down: number) => {
      const next = blockAt(col + right, row + down)
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

/** The open block nearest to a block, the first of equals; `undefined` when everything is sold. */
export function nearestOpen({ claims }: Wall, block: BlockIndex): BlockIndex | undefined {
  const { col, row } = cellOf(block)
  // Ring by ring outwards; a ring's corners are further than the next ring's middles, hence the look at one ring more.
  let nearest: { readonly block: BlockIndex; readonly distance: number } | undefined
  for (let radius = 1; radius < COLS && radius ** 2 <= (nearest?.distance ?? Infinity); radius++) {
    for (const candidate of ring(col, row, radius)) {
      if (claims.has(candidate)) continue
      const cell = cellOf(candidate)
      const distance = (cell.col - col) ** 2 + (cell.row - row) ** 2
      if (nearest === undefined || distance < nearest.distance) nearest = { block: candidate, distance }
    }
  }
  return nearest?.block
}

/** The blocks whose larger distance in columns or rows is `radius`, row by row. */
function ring(col: number, row: number, radius: number): BlockIndex[] {
  const blocks: BlockIndex[] = []
  for (let down = -radius; down <= radius; down++) {
    const step = Math.abs(down) === radius ? 1 : 2 * radius
    for (let right = -radius; right <= radius; right += step) {
      const block = blockAt(col + right, row + down)
      if (block !== undefined) blocks.push(block)
    }
  }
  return blocks
}
