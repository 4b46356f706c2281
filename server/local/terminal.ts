/** The neighbourhood of the wall's centre, drawn in a terminal in the wall's own colours. */

import type { Canvas } from '../../shared/contract/canvas.ts'
import { XTERM_OFFSET } from '../../shared/palette.ts'
import { pixelsFromBase64 } from '../../shared/pixels.ts'
import { BLOCK_SIZE, blockAt, COLS, ROWS, type BlockIndex } from '../../shared/wall.ts'

const OPEN_GREY = 234
const UNPAINTED_GREY = 240
const UPPER_HALF = '▀'

/** Draws `across` x `down` blocks around the centre: two pixels a character, as upper and lower half. */
export function drawCentre({ blocks }: Canvas, across: number, down: number): string {
  const left = COLS / 2 - Math.floor(across / 2)
  const top = ROWS / 2 - Math.floor(down / 2)
  const claimed = new Map(blocks.map(({ i, px }) => [i, px === undefined ? null : pixelsFromBase64(px)]))
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

const halves = (upper: number, lower: number) => `\u001B[38;5;${upper}m\u001B[48;5;${lower}m${UPPER_HALF}`

function xtermColour(claimed: ReadonlyMap<number, Uint8Array | null>, block: BlockIndex, x: number, y: number): number {
  const pixels = claimed.get(block)
  if (pixels === undefined) return OPEN_GREY
  return pixels === null ? UNPAINTED_GREY : (pixels[y * BLOCK_SIZE + x] ?? 0) + XTERM_OFFSET
}
