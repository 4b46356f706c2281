/** Two canvases over each other: the wall's pixels, and one pixel a block of what lies over them. */

import { PALETTE } from '../../shared/palette.ts'
import { BLOCK_SIZE, cellOf, COLS, HEIGHT, ROWS, WIDTH, type BlockIndex } from '../../shared/wall.ts'
import { bytesOf, type Theme } from '../theme.ts'
import type { OverlayBytes } from '../wall/overlay.ts'
import { OPEN, pictureAt, type Atlas } from '../wall/pixel-buffer.ts'

const BYTES = 256

// With more changed blocks than this, painting the whole wall is the shorter way.
const PARTS_MAX = 400

/** Canvases that show an atlas and a overlay. */
export type Layers = {
  readonly layers: readonly HTMLCanvasElement[]
  setAtlas(atlas: Atlas): void
  setBlocks(atlas: Atlas, blocks: readonly BlockIndex[]): void
  setOverlay(overlay: OverlayBytes): void
  setTheme(theme: Theme): void
}

/** `undefined` where the browser draws on no canvas at all. */
export function createLayers(): Layers | undefined {
  const [wall, overlay] = [createCanvas(WIDTH, HEIGHT), createCanvas(COLS, ROWS)]
  if (wall === undefined || overlay === undefined) return undefined
  overlay.canvas.classList.add('overlay')
  const colours = new Uint32Array(BYTES)
  let shown: Atlas | undefined

  const paint = (bytes: Uint8Array, width: number, height: number, x: number, y: number) => {
    const rgba = new Uint32Array(width * height)
    for (let i = 0; i < rgba.length; i++) rgba[i] = colours[bytes[i] ?? 0] ?? 0
    wall.context.putImageData(new ImageData(new Uint8ClampedArray(rgba.buffer), width, height), x, y)
  }
  const setAtlas = (atlas: Atlas) => {
    shown = atlas
    paint(atlas, WIDTH, HEIGHT, 0, 0)
  }
  return {
    layers: [wall.canvas, overlay.canvas],
    setAtlas,
    setBlocks(atlas, blocks) {
      shown = atlas
      if (blocks.length > PARTS_MAX) return setAtlas(atlas)
      for (const block of blocks) {
        const { col, row } = cellOf(block)
        paint(pictureAt(atlas, block), BLOCK_SIZE, BLOCK_SIZE, col * BLOCK_SIZE, row * BLOCK_SIZE)
      }
    },
    setOverlay(bytes) {
      overlay.context.putImageData(new ImageData(new Uint8ClampedArray(bytes), COLS, ROWS), 0, 0)
    },
    setTheme(theme) {
      const parts = new Uint8Array(colours.buffer)
      // Where nobody owns anything the plan of lots shows through.
      for (let i = 0; i < BYTES; i++)
        parts.set([...bytesOf(PALETTE[i] ?? theme.own[i] ?? theme.ground), i === OPEN ? 0 : 255], i * 4)
      if (shown) setAtlas(shown)
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
