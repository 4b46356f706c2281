/** The part of the wall with the sold blocks. */

import type { Area } from '../../../shared/area.ts'
import { getCell, type BlockIndex } from '../../../shared/wall.ts'

// On each side, this share of the sold blocks may be outside the area, so that a few distant blocks do not make all
// others appear small.
const STRAY_SHARE = 0.02

/** The area with nearly all sold blocks; `undefined` if there are none. */
export function findSoldArea(sold: Iterable<BlockIndex>): Area | undefined {
  const cells = Array.from(sold, getCell)
  if (cells.length === 0) return undefined
  const stray = Math.floor(cells.length * STRAY_SHARE)
  const findSpan = (values: number[]): [number, number] => {
    const inOrder = Uint8Array.from(values).sort()
    return [inOrder[stray] ?? 0, inOrder[inOrder.length - 1 - stray] ?? 0]
  }
  const [col, lastCol] = findSpan(cells.map((cell) => cell.col))
  const [row, lastRow] = findSpan(cells.map((cell) => cell.row))
  return { col, row, w: lastCol + 1 - col, h: lastRow + 1 - row }
}
