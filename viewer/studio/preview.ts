/** Draws the wall with the picture on it, on a plain 2d canvas, so that it needs no GPU. */

import { PALETTE } from '../../shared/palette.ts'
import { BLOCK_SIZE, getCell, type BlockIndex } from '../../shared/wall.ts'
import type { Camera, View } from '../camera/camera.ts'
import { createCanvasRenderer, createContext, outlineBox } from '../gl/canvas-renderer.ts'
import { fitCanvas, createFrame } from '../gl/frame.ts'
import { parseColour, type Theme } from '../theme.ts'
import { computeBounds, traceEdges } from '../wall/artworks.ts'
import { getStanding } from './order/cost-summary.ts'
import { measureCoveredArea, listCoveredBlocks, type PaintedPicture, type Sketch } from './sketch.ts'

// The colour of the crosses over blocks of other owners, which stands out in every theme.
const STOP = '#e5484d'

// The opacity that the picture loses over blocks of other owners.
const TAKEN_AWAY = 'rgb(0 0 0 / 0.4)'

const colours = PALETTE.map((colour) => [...parseColour(colour), 255])

/** Creates a preview on a canvas; throws if the browser has no 2d canvas. */
export function createPreview(canvas: HTMLCanvasElement, first: Theme) {
  const renderer = requireDrawing(createCanvasRenderer(canvas))
  const context = requireDrawing(canvas.getContext('2d'))
  const whole = requireDrawing(createContext(BLOCK_SIZE, BLOCK_SIZE)) // the painted picture
  // The same picture, faint over blocks of other owners.
  const shown = requireDrawing(createContext(BLOCK_SIZE, BLOCK_SIZE))
  let barred: readonly BlockIndex[] = []
  let owned = new Path2D() // the outline of the owner's blocks
  renderer.setTheme(first)

  const drawPictureLayer = (sketch: Sketch) => {
    const { size, at, painted } = sketch
    const blocks = Map.groupBy(listCoveredBlocks(sketch), (block) => getStanding(sketch, block))
    barred = blocks.get('others') ?? []
    owned = new Path2D(traceEdges(blocks.get('mine') ?? []))
    shown.canvas.width = size.w * BLOCK_SIZE
    shown.canvas.height = size.h * BLOCK_SIZE
    if (painted === undefined) return
    shown.imageSmoothingEnabled = false
    shown.drawImage(whole.canvas, 0, 0, shown.canvas.width, shown.canvas.height)
    shown.globalCompositeOperation = 'destination-out'
    shown.fillStyle = TAKEN_AWAY
    for (const block of barred) {
      const { col, row } = getCell(block)
      shown.fillRect((col - at.col) * BLOCK_SIZE, (row - at.row) * BLOCK_SIZE, BLOCK_SIZE, BLOCK_SIZE)
    }
  }

  return {
    /** Prepares the changes between two sketches; the next `draw` shows them. */
    update(next: Sketch, before: Sketch) {
      const { wall, painted } = next
      if (wall && wall !== before.wall) {
        // The renderer is empty at first, like a wall before any of it has arrived.
        const isNext = before.wall === undefined || wall.texture === before.wall.texture
        if (wall.changed && isNext) renderer.setBlocks(wall.texture, wall.changed)
        else renderer.setTexture(wall.texture)
      }
      if (painted && painted !== before.painted) putPicture(whole, painted)
      drawPictureLayer(next)
    },
    setTheme: renderer.setTheme,
    /** Sets the canvas to the size of its stage, in device pixels. */
    resize: (view: View) => fitCanvas(canvas, view),
    draw(sketch: Sketch, camera: Camera, view: View) {
      if (sketch.wall === undefined && sketch.picture === undefined) return renderer.drawBackground()
      const ratio = canvas.width / view.width
      const frame = createFrame(camera, view, ratio, undefined)
      renderer.draw(frame)
      if (sketch.picture === undefined) return
      const { left, top, right, bottom } = measureCoveredArea(sketch)
      if (sketch.painted) context.drawImage(shown.canvas, left, top, right - left, bottom - top)
      const line = ratio * frame.pixel // one CSS pixel
      drawCrosses(context, barred, line)
      drawDashedLine(context, owned, line)
      outlineBox(context, [left, top, right - left, bottom - top], line)
    },
  }
}

function requireDrawing<Drawing>(drawing: Drawing | null | undefined): Drawing {
  if (drawing === null || drawing === undefined) throw new Error('this browser has no 2d canvas')
  return drawing
}

function putPicture(context: CanvasRenderingContext2D, { size: { w, h }, indices }: PaintedPicture) {
  const [width, height] = [w * BLOCK_SIZE, h * BLOCK_SIZE]
  const image = new ImageData(width, height)
  indices.forEach((index, at) => image.data.set(colours[index] ?? [], at * 4))
  context.canvas.width = width
  context.canvas.height = height
  context.putImageData(image, 0, 0)
}

function drawCrosses(context: CanvasRenderingContext2D, blocks: readonly BlockIndex[], line: number) {
  context.strokeStyle = STOP
  context.lineWidth = Math.min(1.5 * line, BLOCK_SIZE / 5)
  context.beginPath()
  for (const block of blocks) {
    const { left, top, right, bottom } = computeBounds([block])
    context.moveTo(left, top)
    context.lineTo(right, bottom)
    context.moveTo(right, top)
    context.lineTo(left, bottom)
  }
  context.stroke()
}

function drawDashedLine(context: CanvasRenderingContext2D, path: Path2D, line: number) {
  context.strokeStyle = '#000'
  context.lineWidth = 3 * line
  context.stroke(path)
  context.strokeStyle = '#fff'
  context.lineWidth = 1.5 * line
  context.setLineDash([5 * line, 4 * line])
  context.stroke(path)
  context.setLineDash([])
}
