/** Two canvases over each other: the wall's pixels, and the overlay with one pixel a block. */

import { type BlockIndex, COLS, HEIGHT, ROWS, WIDTH } from '../../shared/wall.ts'
import { type Rect, WHOLE_WALL } from '../camera/camera.ts'
import { type Theme, coloursOf } from '../theme.ts'
import { boundsOf } from '../wall/artworks.ts'
import type { OverlayBytes } from '../wall/overlay.ts'
import { type IndexTexture, OPEN, imageOf } from '../wall/pixel-buffer.ts'

// With more changed blocks than this, painting the whole wall is the shorter way.
const PARTS_MAX = 400

/** Canvases that show a texture and an overlay. */
export type Layers = {
  readonly layers: readonly HTMLCanvasElement[]
  setTexture(texture: IndexTexture): void
  setBlocks(texture: IndexTexture, blocks: readonly BlockIndex[]): void
  setOverlay(overlay: OverlayBytes): void
  setTheme(theme: Theme): void
}

/** `undefined` where the browser draws on no canvas at all. */
export function createLayers(): Layers | undefined {
  const [wall, overlay] = [createCanvas(WIDTH, HEIGHT), createCanvas(COLS, ROWS)]
  if (wall === undefined || overlay === undefined) return undefined
  overlay.canvas.classList.add('overlay')
  let colours = new Uint8Array()
  let shown: IndexTexture | undefined

  const paint = (texture: IndexTexture, area: Rect) =>
    wall.context.putImageData(imageOf(texture, area, colours), area.left, area.top)
  const setTexture = (texture: IndexTexture) => {
    shown = texture
    paint(texture, WHOLE_WALL)
  }
  return {
    layers: [wall.canvas, overlay.canvas],
    setTexture,
    setBlocks(texture, blocks) {
      shown = texture
      if (blocks.length > PARTS_MAX) return setTexture(texture)
      for (const block of blocks) paint(texture, boundsOf([block]))
    },
    setOverlay(bytes) {
      overlay.context.putImageData(new ImageData(new Uint8ClampedArray(bytes), COLS, ROWS), 0, 0)
    },
    setTheme(theme) {
      // Where nobody owns anything the canvas is clear, so that the open ground and its lines show through.
      colours = coloursOf(theme).fill(0, OPEN * 4, OPEN * 4 + 4)
      if (shown) setTexture(shown)
    },
  }
}

function createCanvas(width: number, height: number) {
  const canvas = document.createElement('canvas')
  canvas.className = 'fallback'
  canvas.width = width
  canvas.height = height
  const context = canvas.getContext('2d')
  return context ? { canvas, context } : undefined
}
