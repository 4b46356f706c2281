/** Artworks: adjacent blocks of one owner, which count as one picture. */

import { ALL_BLOCKS, getBlockAt, getCell, COLS, TOTAL_BLOCKS, type BlockIndex } from './wall.ts'

/** Adjacent blocks, in row-major order. */
export type Work = readonly BlockIndex[]

const steps = [
  [-1, 0],
  [1, 0],
  [0, -1],
  [0, 1],
] as const

/** The blocks that share a side with a block, at most four. */
export function listNeighbours(block: BlockIndex): readonly BlockIndex[] {
  const { col, row } = getCell(block)
  return steps.flatMap(([right, down]) => getBlockAt(col + right, row + down) ?? [])
}

/** Every artwork among the blocks of one owner, the largest first. */
export function groupIntoWorks(blocks: Iterable<BlockIndex>): Work[] {
  const left = new Set(blocks)
  const works: Work[] = []
  for (const block of left) {
    const work = findWorkAround(block, (other) => left.has(other))
    for (const taken of work) left.delete(taken)
    works.push(work)
  }
  return works.toSorted((a, b) => b.length - a.length)
}

/** The artwork that a block is part of; `isOwn` returns whether a block has the same owner. */
export function findWorkAround(from: BlockIndex, isOwn: (block: BlockIndex) => boolean): Work {
  const found = new Set([from])
  // The iteration of a set includes entries added during it.
  for (const block of found)
    for (const next of listNeighbours(block)) if (!found.has(next) && isOwn(next)) found.add(next)
  return [...found].toSorted((a, b) => a - b)
}

/**
 * All artworks of a wall: for each block, the first block of its artwork and the artwork's next block in row-major
 * order. For the last block of an artwork, `next` is that block itself.
 */
export type WorkIndex = { readonly first: Uint16Array; readonly next: Uint16Array }

/** Finds every artwork in one pass; `owners` has, for each block, its owner's number from 1, or 0 if it is not sold. */
export function indexWorks(owners: Uint16Array): WorkIndex {
  const first = Uint16Array.from(ALL_BLOCKS)
  const findFirst = (block: number): number => {
    let at = block
    for (let earlier = first[at] ?? at; earlier !== at; earlier = first[at] ?? at) at = earlier
    return (first[block] = at)
  }
  const joinWorks = (block: number, neighbour: number) => {
    if (owners[block] !== owners[neighbour]) return
    const [one, other] = [findFirst(block), findFirst(neighbour)]
    first[Math.max(one, other)] = Math.min(one, other)
  }
  for (let block = 0; block < TOTAL_BLOCKS; block++) {
    if (owners[block] === 0) continue
    if (block % COLS > 0) joinWorks(block, block - 1)
    if (block >= COLS) joinWorks(block, block - COLS)
  }
  const next = Uint16Array.from(ALL_BLOCKS)
  const last = Uint16Array.from(ALL_BLOCKS)
  for (let block = 0; block < TOTAL_BLOCKS; block++) {
    const start = findFirst(block)
    next[last[start] ?? start] = block
    last[start] = block
  }
  return { first, next }
}
