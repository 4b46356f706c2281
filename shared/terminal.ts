/** Output for a terminal: a part of the wall, and text that cannot move the cursor, change colours or reverse lines. */

import { XTERM_OFFSET } from './palette.ts'
import { BLOCK_SIZE, getBlockAt, getCell, COLS, ROWS, type BlockIndex, type Cell } from './wall.ts'

// Control characters, and format characters such as those that change direction; the zero-width joiner of emoji is
// harmless.
const active = /(?!\u200D)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/**
 * One line for a terminal: characters that would control the terminal are shown as `\uXXXX`. A line of JSON keeps its
 * meaning.
 */
export const escapeLine = (text: string): string => text.replaceAll(active, escapeCharacter)

const escapeCharacter = (character: string) =>
  Array.from({ length: character.length }, (_, at) => `\\u${toHex(character.charCodeAt(at))}`).join('')

const toHex = (unit: number) => unit.toString(16).padStart(4, '0')

/** Escapes several lines for a terminal; only line feeds remain as line breaks. */
export const escapeText = (text: string): string => text.split('\n').map(escapeLine).join('\n')

const OPEN_GREY = 234
const UNPAINTED_GREY = 240
const UPPER_HALF = '▀'

const CENTRE: Cell = { col: COLS / 2, row: ROWS / 2 }

/** The sold blocks with their pixels; `null` for a block without a picture. */
export type Painted = ReadonlyMap<BlockIndex, Uint8Array | null>

/**
 * Draws `across` x `down` blocks around the wall's centre, or around a block. Each character shows two pixels, one
 * above the other.
 */
export function drawBlocks(painted: Painted, across: number, down: number, around?: BlockIndex): string {
  const middle = around === undefined ? CENTRE : getCell(around)
  const left = middle.col - Math.floor(across / 2)
  const top = middle.row - Math.floor(down / 2)
  const readColour = (x: number, y: number) => {
    const block = getBlockAt(left + Math.floor(x / BLOCK_SIZE), top + Math.floor(y / BLOCK_SIZE))
    return block === undefined ? 0 : toXtermColour(painted, block, x % BLOCK_SIZE, y % BLOCK_SIZE)
  }
  const lines = Array.from({ length: (down * BLOCK_SIZE) / 2 }, (_, line) =>
    Array.from({ length: across * BLOCK_SIZE }, (__, x) =>
      renderHalves(readColour(x, 2 * line), readColour(x, 2 * line + 1)),
    ).join(''),
  )
  return lines.map((line) => `  ${line}\u001B[0m`).join('\n')
}

const renderHalves = (upper: number, lower: number) => `\u001B[38;5;${upper}m\u001B[48;5;${lower}m${UPPER_HALF}`

function toXtermColour(painted: Painted, block: BlockIndex, x: number, y: number): number {
  const pixels = painted.get(block)
  if (pixels === undefined) return OPEN_GREY
  return pixels === null ? UNPAINTED_GREY : (pixels[y * BLOCK_SIZE + x] ?? 0) + XTERM_OFFSET
}
