/**
 * Cards: the pictures that chat apps show for a link to the wall. A card shows the whole wall, an artwork, a block both
 * in its artwork and on a map of the wall, or an agent's blocks with everything else dimmed. An agent's name is shown
 * only if it fits and `letters.json` has a letter for each of its characters; the file lacks the characters of most
 * scripts.
 */

import { formatAmount, formatCount } from '../../../shared/money.ts'
import { toLinearRgb } from '../../../shared/oklab.ts'
import { PALETTE } from '../../../shared/palette.ts'
import { findNearestColour } from '../../../shared/quantise.ts'
import {
  getBlockAt,
  BLOCK_SIZE,
  getCell,
  COLS,
  formatCoord,
  ROWS,
  TOTAL_BLOCKS,
  type BlockIndex,
  type Cell,
} from '../../../shared/wall.ts'
import type { Work } from '../../../shared/works.ts'
import { findArtwork, computeRegion } from '../wall/artworks.ts'
import type { AgentId } from '../wall/log.ts'
import type { WallView } from '../wall/wall-view.ts'
import {
  createBitmap,
  type Box,
  fillBox,
  drawFrame,
  measureTextHeight,
  isWritable,
  placeBitmap,
  type TextStyle,
  measureTextWidth,
  writeText,
} from './drawing.ts'
import type { Bitmap } from './picture.ts'
import { drawRegion, enlarge, WHOLE_WALL, type Region } from './wall-picture.ts'

/** The subject of a card. */
export type CardSubject =
  | { readonly kind: 'wall' }
  | { readonly kind: 'block'; readonly block: BlockIndex }
  | { readonly kind: 'work'; readonly block: BlockIndex } // a claimed block; the card shows the artwork that it is part of
  | { readonly kind: 'agent'; readonly agent: AgentId }

export const CARD_WIDTH = 1200
export const CARD_HEIGHT = 630

/**
 * The side of a block in pixels: `FILLING` if the whole wall fills the card, `BESIDE` if the wall is shown next to a
 * block.
 */
export const FILLING = 6
export const BESIDE = 4

const GROUND = 216
const EDGE = 222
const QUIET = 231
const LOUD = 239
const BLACK = 0
const WHITE = 215

const SMALL = 3

// The maximum lengths, in letters, of the left and right texts at a card's foot, so that the two texts do not overlap.
const NAME_LETTERS_MAX = 24
const BYLINE_LETTERS_MAX = 28
const LARGE = 8

// The position of the wall, or of a part of it, above a line of text.
const PANE: Box = { x: 120, y: 28, width: COLS * FILLING, height: ROWS * FILLING }
const FOOT_Y = 589

// The positions on a block's card: a line of text above the block's artwork and the map of the wall.
const HEAD_Y = 50
const TILE: Box = { x: 40, y: 140, width: 440, height: 440 }
const MAP: Box = { x: 520, y: 140, width: COLS * BESIDE, height: ROWS * BESIDE }

/**
 * The size at which a card shows the whole wall, as the side of a block in pixels; `undefined` if the card does not
 * show the whole wall.
 */
export function chooseWallSide(view: WallView, subject: CardSubject): number | undefined {
  if (subject.kind === 'block') return BESIDE
  if (subject.kind === 'work') return undefined
  return subject.kind === 'agent' && findRegion(view, subject.agent) !== undefined ? undefined : FILLING
}

/** Facts about the wall that a card shows: the wall's name, and the price of a block in atomic units. */
export type CardWords = { readonly title: string; readonly price: bigint }

/** Draws a card. `wall` is a picture of the whole wall at the size that `chooseWallSide` returns. */
export function drawCard(view: WallView, words: CardWords, subject: CardSubject, wall: Bitmap | undefined): Bitmap {
  const bitmap = createBitmap(CARD_WIDTH, CARD_HEIGHT, GROUND)
  if (subject.kind === 'block') drawBlock(bitmap, view, words, subject.block, wall)
  else if (subject.kind === 'work') drawWork(bitmap, view, words, subject.block)
  else if (subject.kind === 'agent') drawAgent(bitmap, view, words, subject.agent, wall)
  else drawPane(bitmap, words, wall, `${formatCount(view.claimed.size)} OF ${formatCount(TOTAL_BLOCKS)} BLOCKS`)
  return bitmap
}

function drawPane(bitmap: Bitmap, { title }: CardWords, picture: Bitmap | undefined, text: string): void {
  if (picture !== undefined) placeBitmap(bitmap, picture, PANE.x, PANE.y)
  drawFrame(bitmap, PANE, 1, EDGE)
  writeName(bitmap, title, { x: PANE.x, y: FOOT_Y, scale: SMALL, colour: LOUD })
  writeRightAligned(bitmap, text, PANE.x + PANE.width, FOOT_Y)
}

function drawBlock(
  bitmap: Bitmap,
  view: WallView,
  { title, price }: CardWords,
  block: BlockIndex,
  wall: Bitmap | undefined,
): void {
  // One block of a large artwork may be plain black, so the artwork around it is shown too.
  const blocks = findArtwork(view, block)?.blocks ?? [block]
  const spot = placeWork(bitmap, view, blocks, block, TILE)
  if (blocks.length > 1) drawHighlight(bitmap, spot)
  drawFrame(bitmap, TILE, 1, EDGE)
  if (wall !== undefined) placeBitmap(bitmap, wall, MAP.x, MAP.y)
  drawFrame(bitmap, MAP, 1, EDGE)
  const { col, row } = getCell(block)
  drawHighlight(bitmap, { x: MAP.x + col * BESIDE, y: MAP.y + row * BESIDE, width: BESIDE, height: BESIDE })
  writeText(bitmap, formatCoord(block), { x: TILE.x, y: HEAD_Y, scale: LARGE, colour: LOUD })
  const right = MAP.x + MAP.width
  const state = view.claimed.has(block) ? 'CLAIMED' : `OPEN : ${formatAmount(price)}`
  writeRightAligned(bitmap, state, right, HEAD_Y + measureTextHeight(LARGE) - measureTextHeight(SMALL))
  writeName(bitmap, title, { x: MAP.x, y: TILE.y + TILE.height - measureTextHeight(SMALL), scale: SMALL, colour: LOUD })
}

/** Draws a black and white frame around a box, so that the box stands out on any picture. */
function drawHighlight(bitmap: Bitmap, box: Box): void {
  drawFrame(bitmap, box, 7, BLACK)
  drawFrame(bitmap, box, 5, WHITE)
  drawFrame(bitmap, box, 2, BLACK)
}

// The position of an artwork's picture, above a line of text.
const WORK_PANE: Box = { x: 40, y: 40, width: CARD_WIDTH - 80, height: 520 }

/** Draws an artwork alone, on the card's background. */
function drawWork(bitmap: Bitmap, view: WallView, { title }: CardWords, block: BlockIndex): void {
  const work = findArtwork(view, block)
  const blocks = work?.blocks ?? [block]
  placeWork(bitmap, view, blocks, blocks[blocks.length >> 1] ?? block, WORK_PANE)
  writeName(bitmap, title, { x: WORK_PANE.x, y: FOOT_Y, scale: SMALL, colour: LOUD })
  writeRightAligned(
    bitmap,
    formatByline(work?.agent.name ?? null, blocks.length),
    WORK_PANE.x + WORK_PANE.width,
    FOOT_Y,
  )
}

/**
 * Draws an artwork in the middle of a pane, enlarged by the largest whole factor that fits. If the artwork is larger
 * than the pane, draws the part around `block`. Returns the position of `block` on the card.
 */
function placeWork(bitmap: Bitmap, view: WallView, blocks: Work, block: BlockIndex, pane: Box): Box {
  const region = cropAround(computeRegion(blocks), getCell(block), pane)
  const side = BLOCK_SIZE * Math.floor(Math.min(pane.width / region.cols, pane.height / region.rows) / BLOCK_SIZE)
  const picture = enlarge(drawRegion(view, region), side / BLOCK_SIZE)
  const own = new Set(blocks)
  for (let at = 0; at < region.cols * region.rows; at++) {
    const cell = { col: region.col + (at % region.cols), row: region.row + Math.floor(at / region.cols) }
    const there = getBlockAt(cell.col, cell.row)
    if (there === undefined || !own.has(there)) fillBox(picture, computeBox(region, side, cell), GROUND)
  }
  const [x, y] = [pane.x + ((pane.width - picture.width) >> 1), pane.y + ((pane.height - picture.height) >> 1)]
  placeBitmap(bitmap, picture, x, y)
  const spot = computeBox(region, side, getCell(block))
  return { ...spot, x: x + spot.x, y: y + spot.y }
}

/** The largest part of a region, around a cell, that fits within a pane without enlargement. */
function cropAround({ col, row, cols, rows }: Region, cell: Cell, { width, height }: Box): Region {
  const [wide, high] = [Math.min(cols, Math.floor(width / BLOCK_SIZE)), Math.min(rows, Math.floor(height / BLOCK_SIZE))]
  const left = col + clampTo(cell.col - col - (wide >> 1), cols - wide)
  return { col: left, row: row + clampTo(cell.row - row - (high >> 1), rows - high), cols: wide, rows: high }
}

function drawAgent(bitmap: Bitmap, view: WallView, words: CardWords, agent: AgentId, wall: Bitmap | undefined): void {
  const blocks = listBlocks(view, agent)
  const region = findRegion(view, agent) ?? WHOLE_WALL
  const side = PANE.width / region.cols
  const lit = wall ?? enlarge(drawRegion(view, region), side / BLOCK_SIZE)
  const shown = dimOutside(
    lit,
    blocks.map((block) => computeBox(region, side, getCell(block))),
  )
  drawPane(bitmap, words, shown, formatByline(view.agents[agent - 1]?.name ?? null, blocks.length))
}

const FRAME = 2

/**
 * Dims a picture outside `boxes`, and draws a frame around each group of adjacent boxes. The function visits each pixel
 * only once, because one agent may own every block.
 */
function dimOutside({ width, height, indices }: Bitmap, boxes: readonly Box[]): Bitmap {
  const side = boxes[0]?.height ?? height
  // For each row of blocks, `theirs` has a line that marks the pixels in boxes, and `beside` has one that also marks
  // the pixels next to boxes.
  const [theirs, beside] = [new Uint8Array((width * height) / side), new Uint8Array((width * height) / side)]
  for (const { x, y } of boxes) {
    const line = (y / side) * width
    theirs.fill(1, line + x, line + x + side)
    beside.fill(1, line + Math.max(0, x - FRAME), line + Math.min(width, x + side + FRAME))
  }
  const shown = new Uint8Array(indices.length)
  for (let y = 0; y < height; y++) {
    const line = Math.floor(y / side) * width
    const next = y % side < FRAME ? line - width : y % side >= side - FRAME ? line + width : line
    for (let x = 0; x < width; x++) {
      const colour = indices[y * width + x] ?? 0
      const isFrame = beside[line + x] === 1 || beside[next + x] === 1
      shown[y * width + x] = theirs[line + x] === 1 ? colour : isFrame ? WHITE : (DIMMED[colour] ?? colour)
    }
  }
  return { width, height, indices: shown }
}

/** The name of the blocks' owner, if it can be drawn and fits, and the number of blocks. */
function formatByline(name: string | null, blocks: number): string {
  const size = blocks === 1 ? '1 BLOCK' : `${formatCount(blocks)} BLOCKS`
  const text = (name ?? '').toUpperCase()
  const line = `${text} : ${size}`
  return text !== '' && isWritable(text) && line.length <= BYLINE_LETTERS_MAX ? line : size
}

const listBlocks = ({ agents }: WallView, agent: AgentId): readonly BlockIndex[] => agents[agent - 1]?.blocks ?? []

// The sizes, in blocks, of the parts of the wall that fill the pane exactly if they are enlarged by a whole factor.
const PARTS = [32, 48, 96].map((cols) => ({ cols, rows: (cols * ROWS) / COLS }))

/**
 * The smallest part of the wall, in a size from `PARTS`, that shows all of an agent's blocks with space around them;
 * `undefined` if only the whole wall does.
 */
function findRegion(view: WallView, agent: AgentId): Region | undefined {
  const own = computeRegion(listBlocks(view, agent))
  const [left, top, width, height] = [own.col - 1, own.row - 1, own.cols + 2, own.rows + 2]
  const part = PARTS.find(({ cols, rows }) => width <= cols && height <= rows)
  if (part === undefined) return undefined
  return {
    ...part,
    col: clampTo(left - Math.floor((part.cols - width) / 2), COLS - part.cols),
    row: clampTo(top - Math.floor((part.rows - height) / 2), ROWS - part.rows),
  }
}

const clampTo = (value: number, most: number) => Math.max(0, Math.min(most, value))

const computeBox = (region: Region, side: number, { col, row }: Cell): Box => ({
  x: (col - region.col) * side,
  y: (row - region.row) * side,
  width: side,
  height: side,
})

// The share of its light that a dimmed colour keeps.
const DIM = 0.1

/**
 * For each palette index, the index of a grey with a small part of the colour's light. Greys are used because the
 * palette has few dark colours, and nearly all of those are red.
 */
const DIMMED = Uint8Array.from(PALETTE, (colour) => {
  const [red, green, blue] = toLinearRgb(colour)
  const light = (0.2126 * red + 0.7152 * green + 0.0722 * blue) * DIM
  return findNearestColour(light, light, light)
})

/** Writes small text that ends at `right`. */
function writeRightAligned(bitmap: Bitmap, text: string, right: number, y: number): void {
  writeText(bitmap, text, { x: right - measureTextWidth(text, SMALL), y, scale: SMALL, colour: QUIET })
}

/**
 * Writes the wall's name in capitals without accents, because only those can be drawn, and cuts it if it is too long.
 */
function writeName(bitmap: Bitmap, title: string, style: TextStyle): void {
  const text = title.normalize('NFD').replaceAll(/\p{M}/gu, '').toUpperCase()
  writeText(bitmap, text.slice(0, NAME_LETTERS_MAX), style)
}
