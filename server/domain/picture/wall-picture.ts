/** The wall as a picture: a part of it in palette indices, with quiet greys where nobody has painted. */

import type { Area } from '../../../shared/area.ts'
import { sliceBlockPixels, PIXELS_PER_BLOCK, type Pixels } from '../../../shared/pixels.ts'
import { getBlockAt, BLOCK_SIZE, COLS, ROWS, type BlockIndex } from '../../../shared/wall.ts'
import { readLine, UNPAINTED } from '../wall/canvas.ts'
import type { WallView } from '../wall/wall-view.ts'
import type { Bitmap } from './picture.ts'

/** A part of the wall, in blocks. */
export type Region = { readonly col: number; readonly row: number; readonly cols: number; readonly rows: number }

export const WHOLE_WALL: Region = { col: 0, row: 0, cols: COLS, rows: ROWS }

/**
 * An area to draw with the given pixels instead of those that it shows now. The pixels are ordered block by block;
 * `null` draws the area as sold but unpainted.
 */
export type Trial = { readonly area: Area; readonly pixels: Pixels | null }

// The palette's greys nearest to those of the page, which are not in the palette.
const OPEN = 217
const OPEN_DOT = 220
const BARE = 220
const BARE_FRAME = 223

const last = BLOCK_SIZE - 1

const bareTile = renderTile((x, y) => (x === 0 || y === 0 || x === last || y === last ? BARE_FRAME : BARE))

/** Draws a region that lies on the wall, one pixel for each pixel of the wall. */
export function drawRegion(view: WallView, region: Region, trial?: Trial): Bitmap {
  const width = region.cols * BLOCK_SIZE
  const indices = new Uint8Array(width * region.rows * BLOCK_SIZE).fill(OPEN)
  for (let y = 0; y < region.rows; y++) drawRow(view, region, y, indices)
  if (trial !== undefined) {
    const { area, pixels } = trial
    for (let at = 0; at < area.w * area.h; at++) {
      const [x, y] = [area.col + (at % area.w) - region.col, area.row + Math.floor(at / area.w) - region.row]
      placeTile(indices, width, x, y, pixels === null ? bareTile : sliceBlockPixels(pixels, at))
    }
  }
  return { width, height: region.rows * BLOCK_SIZE, indices }
}

/** Enlarges a picture: each pixel becomes a square of `scale` x `scale` pixels. */
export function enlarge({ width, height, indices }: Bitmap, scale: number): Bitmap {
  if (scale === 1) return { width, height, indices }
  const wide = width * scale
  const large = new Uint8Array(wide * height * scale)
  for (let y = 0; y < height; y++) {
    const start = y * scale * wide
    for (let x = 0; x < width; x++) large.fill(indices[y * width + x] ?? 0, start + x * scale, start + (x + 1) * scale)
    for (let copy = 1; copy < scale; copy++) large.copyWithin(start + copy * wide, start, start + wide)
  }
  return { width: wide, height: height * scale, indices: large }
}

/** An area and the blocks around it that are on the wall. */
export function findSurroundings({ col, row, w, h }: Area): Region {
  const [left, top] = [Math.max(0, col - 1), Math.max(0, row - 1)]
  return { col: left, row: top, cols: Math.min(COLS, col + w + 1) - left, rows: Math.min(ROWS, row + h + 1) - top }
}

/**
 * Draws one row of blocks onto the background of unsold blocks. Adjacent painted blocks are copied together to save
 * time, because the whole wall is drawn often.
 */
function drawRow(view: WallView, { col, row, cols }: Region, y: number, indices: Uint8Array): void {
  const width = cols * BLOCK_SIZE
  for (let x = 0; x < cols;) {
    const block = getBlockAt(col + x, row + y)
    if (block === undefined) throw new RangeError('the region extends beyond the wall')
    const painted = countPainted(view, block, cols - x)
    for (let line = 0; line < BLOCK_SIZE && painted > 0; line++)
      indices.set(readLine(view.canvas, block, painted, line), (y * BLOCK_SIZE + line) * width + x * BLOCK_SIZE)
    if (painted === 0 && view.claimed.has(block)) placeTile(indices, width, x, y, bareTile)
    else if (painted === 0) indices[y * BLOCK_SIZE * width + x * BLOCK_SIZE] = OPEN_DOT
    x += Math.max(1, painted)
  }
}

/** The number of painted blocks from `block` to the right without a gap, up to `most`. */
function countPainted({ canvas }: WallView, block: BlockIndex, most: number): number {
  const line = readLine(canvas, block, most, 0)
  let count = 0
  while (count < most && line[count * BLOCK_SIZE] !== UNPAINTED) count++
  return count
}

function placeTile(indices: Uint8Array, width: number, x: number, y: number, pixels: Uint8Array): void {
  for (let line = 0; line < BLOCK_SIZE; line++) {
    const at = (y * BLOCK_SIZE + line) * width + x * BLOCK_SIZE
    indices.set(pixels.subarray(line * BLOCK_SIZE, (line + 1) * BLOCK_SIZE), at)
  }
}

function renderTile(indexAt: (x: number, y: number) => number): Uint8Array {
  return Uint8Array.from({ length: PIXELS_PER_BLOCK }, (_, i) => indexAt(i % BLOCK_SIZE, Math.floor(i / BLOCK_SIZE)))
}
