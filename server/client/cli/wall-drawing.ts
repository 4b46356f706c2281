/** A part of the wall, drawn in a terminal in the wall's own colours. */

import type { Canvas } from '../../../shared/contract/canvas.ts'
import { XTERM_OFFSET } from '../../../shared/palette.ts'
import { trustPixels, type Pixels } from '../../../shared/pixels.ts'
import { BLOCK_SIZE, blockAt, cellOf, COLS, ROWS, type BlockIndex, type Cell } from '../../../shared/wall.ts'

const OPEN_GREY = 234
const UNPAINTED_GREY = 240
const UPPER_HALF = '▀'

const CENTRE: Cell = { col: COLS / 2, row: ROWS / 2 }

/** Draws `across` x `down` blocks around the centre, or around a block: two pixels a character, as upper and lower half. */
export function drawWall({ blocks }: Canvas, across: number, down: number, around?: BlockIndex): string {
  const middle = around === undefined ? CENTRE : cellOf(around)
  const left = middle.col - Math.floor(across / 2)
  const top = middle.row - Math.floor(down / 2)
  const claimed = new Map(blocks.map(({ i, px }) => [i, px === undefined ? null : pixelsOf(px)]))
  const colourAt = (x: number, y: number) => {
    const block = blockAt(left + Math.floor(x / BLOCK_SIZE), top + Math.floor(y / BLOCK_SIZE))
    return block === undefined ? 0 : xtermColour(claimed, block, x % BLOCK_SIZE, y % BLOCK_SIZE)
  }
  const lines = Array.from({ length: (down * BLOCK_SIZE) / 2 }, (_, line) =>
    Array.from({ length: across * BLOCK_SIZE }, (__, x) =>
      halves(colourAt(x, 2 * line), colourAt(x, 2 * line + 1)),
    ).join(''),
  )
  return lines.map((line) => `  ${line}\u001B[0m`).join('\n')
}

// Not every runtime of the client's can read base64 into bytes by itself.
const pixelsOf = (base64: string): Pixels => trustPixels(Buffer.from(base64, 'base64'))

const halves = (upper: number, lower: number) => `\u001B[38;5;${upper}m\u001B[48;5;${lower}m${UPPER_HALF}`

function xtermColour(claimed: ReadonlyMap<number, Uint8Array | null>, block: BlockIndex, x: number, y: number): number {
  const pixels = claimed.get(block)
  if (pixels === undefined) return OPEN_GREY
  return pixels === null ? UNPAINTED_GREY : (pixels[y * BLOCK_SIZE + x] ?? 0) + XTERM_OFFSET
}
