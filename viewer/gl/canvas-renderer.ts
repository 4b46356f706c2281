/** Draws the wall on a plain 2d canvas, for the paint page, and for browsers without a fast GPU. */

import type { BlockIndex } from '../../shared/wall.ts'
import { ALL_BLOCKS, BLOCK_SIZE, getBlockAt, getCell, COLS, HEIGHT, ROWS, WIDTH } from '../../shared/wall.ts'
import type { Rect } from '../camera/camera.ts'
import { createColourTable, dark, type Theme } from '../theme.ts'
import { computeBounds, traceEdges, computeLineBounds } from '../wall/artworks.ts'
import { createImage, isOpenAt, OPEN, type IndexTexture } from '../wall/pixel-buffer.ts'
import type { Frame } from './frame.ts'
import type { Renderer } from './renderer.ts'

// If more blocks than this have changed, painting whole lines of the wall is faster.
const PARTS_MAX = 400

// Lines around groups of ten by ten blocks are stronger than those around single blocks.
const TEN = 10

// The lines around works and blocks, black with a white core, and their widths in CSS pixels.
const LINE_PX = 4
const LINES = [
  ['#000', LINE_PX],
  ['#fff', 2],
] as const

/**
 * A renderer on a canvas, whose context is scaled to wall pixels after each drawing; `undefined` if the browser has no
 * 2d canvas.
 */
export function createCanvasRenderer(canvas: HTMLCanvasElement): Omit<Renderer, 'destroy'> | undefined {
  const context = canvas.getContext('2d', { alpha: false })
  const [wall, overlay] = [createContext(WIDTH, HEIGHT), createContext(COLS, ROWS)]
  if (!context || !wall || !overlay) return undefined
  let theme = dark
  let colours = createColourTable(theme)
  let shown: IndexTexture | undefined
  let sold: ReadonlySet<BlockIndex> = new Set()
  let bordering: readonly BlockIndex[] | undefined // sold blocks that border on open ones; undefined after a sale
  let marks: Path2D | undefined

  const paintArea = (texture: IndexTexture, area: Rect) =>
    wall.putImageData(createImage(texture, area, colours), area.left, area.top)
  const setBlocks = (texture: IndexTexture, blocks: readonly BlockIndex[]) => {
    shown = texture
    if (blocks.some((block) => isOpenAt(texture, block) === sold.has(block))) bordering = undefined
    if (blocks.length > PARTS_MAX) paintArea(texture, computeLineBounds(blocks))
    else for (const block of blocks) paintArea(texture, computeBounds([block]))
  }
  return {
    setTexture: (texture) => setBlocks(texture, ALL_BLOCKS),
    setBlocks,
    setOverlay: (bytes) => overlay.putImageData(new ImageData(new Uint8ClampedArray(bytes), COLS, ROWS), 0, 0),
    setMarks: (blocks) => void (marks = blocks.length === 0 ? undefined : new Path2D(traceEdges(blocks))),
    setTheme(other) {
      theme = other
      // The wall's own canvas is transparent on open blocks, so that the background and its lines show through.
      colours = createColourTable(theme).fill(0, OPEN * 4, OPEN * 4 + 4)
      if (shown) setBlocks(shown, ALL_BLOCKS)
    },
    drawBackground: () => fillBox(context, theme.ground, [0, 0, canvas.width, canvas.height]),
    draw(frame) {
      const scale = 1 / frame.pixel
      context.resetTransform()
      drawGround(context, frame, theme)
      const [left, top] = computeCorner(frame)
      const place = [left, top, WIDTH * scale, HEIGHT * scale] as const
      if (bordering === undefined) {
        sold = new Set(ALL_BLOCKS.filter((block) => shown && !isOpenAt(shown, block)))
        bordering = [...sold].filter((block) => bordersOnOpenBlock(sold, block))
      }
      // Each box extends its block by the width of a line on each side. Only the part of this margin over open blocks
      // stays visible.
      for (const block of bordering) fillBox(context, theme.edge, computeBlockBox(block, frame, frame.line))
      context.imageSmoothingEnabled = scale < 1
      context.imageSmoothingQuality = 'high'
      context.drawImage(wall.canvas, ...place)
      context.imageSmoothingEnabled = false
      context.drawImage(overlay.canvas, ...place)
      if (frame.outlined) {
        const [x, y, right, bottom] = frame.outlined.box
        outlineBox(context, [x, y, right - x, bottom - y], devicePixelRatio)
      }
      context.setTransform(scale, 0, 0, scale, left, top)
      if (marks) strokeLines(context, marks, devicePixelRatio * frame.pixel)
      return true
    },
  }
}

/** Creates the context of a canvas that is not on the page. */
export function createContext(width: number, height: number): CanvasRenderingContext2D | null {
  return Object.assign(document.createElement('canvas'), { width, height }).getContext('2d')
}

export type Box = readonly [left: number, top: number, width: number, height: number]

function fillBox(context: CanvasRenderingContext2D, colour: string, box: Box) {
  context.fillStyle = colour
  context.fillRect(...box)
}

/** The wall's top left corner in device pixels. */
const computeCorner = ({ origin: [x, y], pixel }: Frame) => [Math.round(-x / pixel), Math.round(-y / pixel)] as const

/** Draws a line around a box without covering its pixels; `px` is a CSS pixel in the context's units. */
export function outlineBox(context: CanvasRenderingContext2D, [left, top, width, height]: Box, px: number) {
  const beside = (LINE_PX / 2) * px
  const path = new Path2D()
  path.rect(left - beside, top - beside, width + 2 * beside, height + 2 * beside)
  strokeLines(context, path, px)
}

function strokeLines(context: CanvasRenderingContext2D, path: Path2D, px: number) {
  for (const [colour, width] of LINES) {
    context.strokeStyle = colour
    context.lineWidth = width * px
    context.stroke(path)
  }
}

/** The box of a block on the canvas, enlarged by a margin, in whole device pixels. */
function computeBlockBox(block: BlockIndex, frame: Frame, margin: number): Box {
  const [left, top] = computeCorner(frame)
  const { col, row } = getCell(block)
  const side = BLOCK_SIZE / frame.pixel
  const [x, y] = [Math.round(left + col * side), Math.round(top + row * side)]
  const [right, bottom] = [Math.round(left + (col + 1) * side), Math.round(top + (row + 1) * side)]
  return [x - margin, y - margin, right - x + 2 * margin, bottom - y + 2 * margin]
}

/** Draws the background, the wall's edge, and open blocks with lines of the same width at every zoom. */
function drawGround(context: CanvasRenderingContext2D, frame: Frame, theme: Theme) {
  const { pixel, line, gridStrength } = frame
  const { width, height } = context.canvas
  const side = BLOCK_SIZE / pixel
  const [left, top] = computeCorner(frame)
  const [wide, high] = [COLS * side, ROWS * side]
  fillBox(context, theme.ground, [0, 0, width, height])
  fillBox(context, theme.edge, [left - line, top - line, wide + 2 * line, high + 2 * line])
  fillBox(context, theme.own[OPEN] ?? theme.ground, [left, top, wide, high])
  const drawLines = (count: number, from: number, size: number, boxAt: (at: number) => Box) => {
    for (let n = Math.max(0, Math.floor(-from / side)); n < count && from + n * side < size; n++) {
      context.globalAlpha = n % TEN === 0 ? gridStrength[1] : gridStrength[0]
      if (context.globalAlpha > 0) fillBox(context, theme.gridLine, boxAt(Math.round(from + n * side)))
    }
    context.globalAlpha = 1
  }
  drawLines(COLS, left, width, (at) => [at, top, line, high])
  drawLines(ROWS, top, height, (at) => [left, at, wide, line])
}

/** Whether any of the blocks around a block is open. */
function bordersOnOpenBlock(sold: ReadonlySet<BlockIndex>, block: BlockIndex): boolean {
  const { col, row } = getCell(block)
  const isOpen = (right: number, down: number) => {
    const other = getBlockAt(col + right, row + down)
    return other !== undefined && !sold.has(other)
  }
  return [-1, 0, 1].some((right) => [-1, 0, 1].some((down) => isOpen(right, down)))
}
