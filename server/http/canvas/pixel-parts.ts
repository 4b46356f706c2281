/** The wall's pixels alone, block by block, in parts by wall row. */

import { ALL_BLOCKS, cellOf, COLS, ROWS } from '../../../shared/wall.ts'
import { readBlocks } from '../../domain/wall/canvas.ts'
import type { WallView } from '../../domain/wall/wall-view.ts'
import type { Part, Parts } from './canvas-snapshot.ts'

/** Cuts a view's pixels into parts. */
export function pixelParts(view: WallView): Parts {
  const dirtyRows = new Set(Array.from({ length: ROWS }, (_, row) => row))
  const bytesOf = (row: number) => readBlocks(view.canvas, ALL_BLOCKS.slice(row * COLS, (row + 1) * COLS))
  return {
    mark(change) {
      if ('block' in change) dirtyRows.add(cellOf(change.block).row)
    },
    isDirty: () => dirtyRows.size > 0,
    take() {
      const parts = [...dirtyRows].toSorted((a, b) => a - b).map((row): Part => [row, bytesOf(row)])
      dirtyRows.clear()
      return parts
    },
  }
}
