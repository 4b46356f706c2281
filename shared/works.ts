/** Works: blocks of one owner that touch each other, which together are one picture. */

import { blockAt, cellOf, type BlockIndex } from './wall.ts'

/** Blocks that hang together, in row-major order. */
export type Work = readonly BlockIndex[]

const steps = [
  [-1, 0],
  [1, 0],
  [0, -1],
  [0, 1],
] as const

/** Every work among the blocks of one owner, the largest first. */
export function worksOf(blocks: Iterable<BlockIndex>): Work[] {
  const left = new Set(blocks)
  const works: Work[] = []
  for (const block of left) {
    const work = workAround(block, (other) => left.has(other))
    for (const taken of work) left.delete(taken)
    works.push(work)
  }
  return works.toSorted((a, b) => b.length - a.length)
}

/** The work that a block is part of; `isOwn` says which blocks are its owner's. */
export function workAround(from: BlockIndex, isOwn: (block: BlockIndex) => boolean): Work {
  const found = new Set([from])
  // A set is walked through to what was added while walking.
  for (const block of found) {
    const { col, row } = cellOf(block)
    for (const [right, down] of steps) {
      const next = blockAt(col + right, row + down)
      if (next !== undefined && !found.has(next) && isOwn(next)) found.add(next)
    }
  }
  return [...found].toSorted((a, b) => a - b)
}
