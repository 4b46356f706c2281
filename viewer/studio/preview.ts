/** Draws the wall with the picture on it, on a plain 2d canvas: this page needs no GPU. */

import { PALETTE } from '../../shared/palette.ts'
import { BLOCK_SIZE, HEIGHT, WIDTH, blockAt, cellOf, type BlockIndex } from '../../shared/wall.ts'
import { toScreen, type Camera, type View } from '../camera/camera.ts'
import { bytesOf, type Theme } from '../theme.ts'
import { areaOf } from '../wall/artworks.ts'
import { pictureOf } from '../wall/picture.ts'
import type { Wall } from '../wall/wall-model.ts'
import { standingOf } from './cost-summary.ts'
import { areaCovered, covered, type Painted, type Sketch } from './sketch.ts'

export type Board = {
  /** Takes over what differs between two sketches; drawn with the next drawing. */
  take(next: Sketch, before: Sketch): void
  setTheme(theme: Theme, sketch: Sketch): void
  /** Gives the canvas its stage's size in device pixels. */
  resize(view: View): void
  draw(sketch: Sketch, camera: Camera, view: View): void
}

// Over a block that cannot be had; strong in either theme.
const STOP = '#e5484d'

const colours = PALETTE.map((colour) => [...bytesOf(colour), 255])

/** A board on a canvas. */
export function createBoard(canvas: HTMLCanvasElement, first: Theme): Board {
  const context = needed(canvas.getContext('2d', { alpha: false }))
  const ground = sheet(WIDTH, HEIGHT)
  const whole = sheet(BLOCK_SIZE, BLOCK_SIZE) // the picture as painted
  const shown = sheet(BLOCK_SIZE, BLOCK_SIZE) // what of it comes onto the wall
  let theme = first
  let barred: readonly BlockIndex[] = []
  let owned: readonly BlockIndex[] = []

  const putGround = (wall: Wall, blocks: readonly BlockIndex[] | undefined) => {
    for (const part of blocks?.map((block) => [block]) ?? [[]]) {
      const area = areaOf(part)
      const { rgba, width, height } = pictureOf(wall.atlas, area, 1, theme)
      ground.putImageData(new ImageData(rgba, width, height), area.left, area.top)
    }
  }

  const cut = (sketch: Sketch) => {
    const { size, at, painted } = sketch
    const blocks = covered(sketch).map((block) => ({ block, standing: standingOf(sketch, block) }))
    barred = blocks.filter(({ standing }) => standing === 'others' || standing === 'held').map(({ block }) => block)
    owned = blocks.filter(({ standing }) => standing === 'mine').map(({ block }) => block)
    shown.canvas.width = size.w * BLOCK_SIZE
    shown.canvas.height = size.h * BLOCK_SIZE
    if (painted === undefined) return
    shown.imageSmoothingEnabled = false
    shown.drawImage(whole.canvas, 0, 0, shown.canvas.width, shown.canvas.height)
    for (const block of barred) {
      const { col, row } = cellOf(block)
      shown.clearRect((col - at.col) * BLOCK_SIZE, (row - at.row) * BLOCK_SIZE, BLOCK_SIZE, BLOCK_SIZE)
    }
  }

  return {
    take(next, before) {
      const { wall, painted } = next
      if (wall && wall !== before.wall) putGround(wall, wall.atlas === before.wall?.atlas ? wall.changed : undefined)
      if (painted && painted !== before.painted) putPicture(whole, painted)
      cut(next)
    },
    setTheme(other, { wall }) {
      theme = other
      if (wall) putGround(wall, undefined)
    },
    resize({ width, height }) {
      canvas.width = Math.round(width * devicePixelRatio)
      canvas.height = Math.round(height * devicePixelRatio)
    },
    draw(sketch, camera, view) {
      const ratio = canvas.width / view.width
      const scale = camera.zoom * ratio
      const corner = toScreen(camera, view, { x: 0, y: 0 })
      context.resetTransform()
      context.fillStyle = theme.ground
      context.fillRect(0, 0, canvas.width, canvas.height)
      context.setTransform(scale, 0, 0, scale, corner.x * ratio, corner.y * ratio)
      context.imageSmoothingEnabled = scale < 1
      context.imageSmoothingQuality = 'high'
      context.drawImage(ground.canvas, 0, 0)
      if (sketch.picture === undefined) return
      const { left, top, right, bottom } = areaCovered(sketch)
      if (sketch.painted) context.drawImage(shown.canvas, left, top, right - left, bottom - top)
      const line = ratio / scale // one CSS pixel
      bar(context, barred, theme, line)
      frame(context, owned, line)
      outline(context, [left, top, right - left, bottom - top], line)
    },
  }
}

/** A drawing that is kept and not shown. */
function sheet(width: number, height: number): OffscreenCanvasRenderingContext2D {
  return needed(new OffscreenCanvas(width, height).getContext('2d'))
}

function needed<Context>(context: Context | null): Context {
  if (context === null) throw new Error('this browser has no 2d canvas')
  return context
}

function putPicture(context: OffscreenCanvasRenderingContext2D, { size: { w, h }, indices }: Painted) {
  const [width, height] = [w * BLOCK_SIZE, h * BLOCK_SIZE]
  const image = new ImageData(width, height)
  indices.forEach((index, at) => image.data.set(colours[index] ?? [], at * 4))
  context.canvas.width = width
  context.canvas.height = height
  context.putImageData(image, 0, 0)
}

/** Crosses out blocks that others have. */
function bar(context: CanvasRenderingContext2D, blocks: readonly BlockIndex[], theme: Theme, line: number) {
  context.fillStyle = `${theme.ground}99`
  context.strokeStyle = STOP
  context.lineWidth = Math.min(1.5 * line, BLOCK_SIZE / 5)
  context.beginPath()
  for (const block of blocks) {
    const { left, top, right, bottom } = areaOf([block])
    context.fillRect(left, top, BLOCK_SIZE, BLOCK_SIZE)
    context.moveTo(left, top)
    context.lineTo(right, bottom)
    context.moveTo(right, top)
    context.lineTo(left, bottom)
  }
  context.stroke()
}

/** Draws a line around blocks of one's own. */
function frame(context: CanvasRenderingContext2D, blocks: readonly BlockIndex[], line: number) {
  const own = new Set(blocks)
  context.beginPath()
  for (const block of blocks) {
    const { col, row } = cellOf(block)
    const { left, top, right, bottom } = areaOf([block])
    for (const [beside, x1, y1, x2, y2] of [
      [blockAt(col, row - 1), left, top, right, top],
      [blockAt(col + 1, row), right, top, right, bottom],
      [blockAt(col, row + 1), right, bottom, left, bottom],
      [blockAt(col - 1, row), left, bottom, left, top],
    ] as const) {
      if (beside !== undefined && own.has(beside)) continue
      context.moveTo(x1, y1)
      context.lineTo(x2, y2)
    }
  }
  context.strokeStyle = '#000'
  context.lineWidth = 3 * line
  context.stroke()
  context.strokeStyle = '#fff'
  context.lineWidth = 1.5 * line
  context.setLineDash([5 * line, 4 * line])
  context.stroke()
  context.setLineDash([])
}

function outline(context: CanvasRenderingContext2D, box: readonly [number, number, number, number], line: number) {
  for (const [colour, width] of [
    ['#000', 4],
    ['#fff', 2],
  ] as const) {
    context.strokeStyle = colour
    context.lineWidth = width * line
    context.strokeRect(...box)
  }
}
