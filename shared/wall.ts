/** The wall's geometry: 160 x 90 blocks of 10 x 10 pixels, and the order in which they are sold. */

export const WIDTH = 1600
export const HEIGHT = 900
export const BLOCK_SIZE = 10
export const COLS = WIDTH / BLOCK_SIZE
export const ROWS = HEIGHT / BLOCK_SIZE
export const TOTAL_BLOCKS = COLS * ROWS

/** A block's position in row-major order, `row * COLS + col`, 0 to 14399. */
export type BlockIndex = number & { readonly BlockIndex: unique symbol }

/** Column and row of a block, both from 0. */
export type Cell = { readonly col: number; readonly row: number }

/** `col,row` of a block, in decimal without leading zeros. */
export type Coord = `${number},${number}`

/** The pattern of a coordinate in requests. It allows leading zeros, which do not change the block. */
export const COORD_PATTERN = '^\\d{1,3},\\d{1,3}$'

const coordPattern = new RegExp(COORD_PATTERN)

export function isBlockIndex(value: number): value is BlockIndex {
  return Number.isInteger(value) && value >= 0 && value < TOTAL_BLOCKS
}

/** The block at a column and row; `undefined` off the wall. */
export function getBlockAt(col: number, row: number): BlockIndex | undefined {
  if (col < 0 || col >= COLS || row < 0 || row >= ROWS) return undefined
  const index = row * COLS + col
  return isBlockIndex(index) ? index : undefined
}

/** Parses `col,row`; `undefined` if it is malformed or off the wall. */
export function parseCoord(text: string): BlockIndex | undefined {
  if (!coordPattern.test(text)) return undefined
  const comma = text.indexOf(',')
  return getBlockAt(Number(text.slice(0, comma)), Number(text.slice(comma + 1)))
}

/** Column and row of a block. */
export function getCell(block: BlockIndex): Cell {
  return { col: block % COLS, row: Math.floor(block / COLS) }
}

/** The canonical `col,row` of a block. */
export function formatCoord(block: BlockIndex): Coord {
  const { col, row } = getCell(block)
  return `${col},${row}`
}

/** A block's coordinate and index, as responses contain them. */
export const toBlockRef = (block: BlockIndex): { readonly coord: Coord; readonly index: BlockIndex } => ({
  coord: formatCoord(block),
  index: block,
})

/** Every block, in row-major order. */
export const ALL_BLOCKS: readonly BlockIndex[] = Array.from({ length: TOTAL_BLOCKS }, (_, i) => i).filter(isBlockIndex)

/**
 * Squared distance from a block's centre to the wall's centre, in half blocks. It is an integer, so that ties are
 * exact.
 */
function measureCentreDistance(block: BlockIndex): number {
  const { col, row } = getCell(block)
  return (2 * col - (COLS - 1)) ** 2 + (2 * row - (ROWS - 1)) ** 2
}

/**
 * All blocks, in the order in which `/blocks/next` sells them: nearest to the centre first, and blocks at the same
 * distance by index. Marked pure, so that the bundler drops the sort from pages that do not need the order.
 */
export const CLAIM_ORDER: readonly BlockIndex[] = /* @__PURE__ */ ALL_BLOCKS.toSorted(
  (a, b) => measureCentreDistance(a) - measureCentreDistance(b) || a - b,
)
