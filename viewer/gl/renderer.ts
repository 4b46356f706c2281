/** Draws the wall on the GPU: up close with an index texture and a palette texture, from afar with averaged light. */

import createRegl, { type Regl } from 'regl'
import { COLS, HEIGHT, ROWS, WIDTH, type BlockIndex } from '../../shared/wall.ts'
import { WHOLE_WALL, type Rect } from '../camera/camera.ts'
import { parseColour, createColourTable, type Theme } from '../theme.ts'
import { computeBounds, computeLineBounds } from '../wall/artworks.ts'
import type { OverlayBytes } from '../wall/overlay.ts'
import type { IndexTexture } from '../wall/pixel-buffer.ts'
import { waitForCommands } from './draw-calls.ts'
import type { Frame } from './frame.ts'
import groundFrag from './ground.frag?raw'
import { createLevels, chooseDepth, defineOpen, quad } from './levels.ts'
import magnifyFrag from './magnify.frag?raw'
import minifyFrag from './minify.frag?raw'
import outlineFrag from './outline.frag?raw'
import worksFrag from './works.frag?raw'

const PALETTE_TEXTURE_SIZE = 256

// Beyond this many changed blocks, all lines of the wall that contain them are uploaded and shaded together.
const PARTS_MAX = 64

type Colour = [red: number, green: number, blue: number, alpha: number]
const WHITE: Colour = [1, 1, 1, 1]
const BLACK: Colour = [0, 0, 0, 1]

export type Renderer = {
  /** Uploads a whole index texture, which the next frame draws. */
  setTexture(indices: IndexTexture): void
  /** Uploads some blocks of an index texture: a few one by one, many as whole lines. */
  setBlocks(indices: IndexTexture, blocks: readonly BlockIndex[]): void
  setOverlay(overlay: OverlayBytes): void
  /** Sets which blocks have a line around their outer edge. */
  setMarks(blocks: readonly BlockIndex[]): void
  setTheme(theme: Theme): void
  /** Draws the wall, or only the background until it can draw the wall; returns whether it drew the wall. */
  draw(frame: Frame): boolean
  /** Draws only the background, before there is a wall. */
  drawBackground(): void
  destroy(): void
}

/** The WebGL context of a canvas; null if the browser has no WebGL. */
export const openWebGl = (canvas: HTMLCanvasElement): WebGLRenderingContext | null =>
  canvas.getContext('webgl', { alpha: false, antialias: false, depth: false, stencil: false })

/**
 * A renderer on the GPU. It draws only the background until the driver has compiled its shaders; then it calls
 * `onReady`.
 */
export function createRenderer(gl: WebGLRenderingContext, onReady: () => void): Renderer {
  const regl = createRegl({ gl })
  // Each texture gets its size with its first content.
  const createBlank = () => regl.texture()
  const [indices, palette, overlay, marks] = [createBlank(), createBlank(), createBlank(), createBlank()]
  const levels = createLevels(regl, { indices, palette, overlay })
  const paint = createPainters(regl)
  let themeColours = selectThemeColours()
  let stale: readonly Rect[] = [WHOLE_WALL] // the areas that the levels do not show yet
  let overlaid = 0
  let marked: Rect | undefined
  let isReady = false
  void waitForCommands(gl).then(() => {
    isReady = true
    onReady()
  })

  const drawFar = (frame: Frame, depth: number) => {
    const level = levels.all[depth]
    if (level === undefined) return
    for (const area of stale) levels.refresh(area)
    stale = []
    const inLevel = scaleFrame(frame, depth)
    paint.far({ ...frame, ...themeColours, ...inLevel, level: level.target, levelSize: level.size })
  }

  return {
    setTexture(data) {
      indices({ data, width: WIDTH, height: HEIGHT, format: 'luminance' })
      stale = [WHOLE_WALL]
    },
    setBlocks(data, blocks) {
      const parts =
        blocks.length > PARTS_MAX ? [computeLineBounds(blocks)] : blocks.map((block) => computeBounds([block]))
      for (const area of parts) indices.subimage(cropTexture(data, area), area.left, area.top)
      stale = stale.length + parts.length > PARTS_MAX ? [WHOLE_WALL] : [...stale, ...parts]
    },
    setOverlay(data) {
      overlay({ data, width: COLS, height: ROWS })
      overlaid = data.some((byte) => byte > 0) ? 1 : 0
      stale = [WHOLE_WALL]
    },
    setMarks(blocks) {
      const data = new Uint8Array(COLS * ROWS)
      for (const block of blocks) data[block] = 255
      marks({ data, width: COLS, height: ROWS, format: 'luminance' })
      marked = blocks.length > 0 ? computeBounds(blocks) : undefined
    },
    setTheme(theme) {
      palette({ data: createColourTable(theme), width: PALETTE_TEXTURE_SIZE, height: 1 })
      themeColours = selectThemeColours(theme)
      stale = [WHOLE_WALL]
    },
    draw(frame) {
      clearCanvas(regl, themeColours.ground)
      if (!isReady) return false
      if (frame.pixel <= 1) paint.near({ ...frame, ...themeColours, indices, palette, overlay, overlaid })
      else drawFar(frame, chooseDepth(frame.pixel))
      paint.outline({ ...frame, ...frame.edge, inner: themeColours.edge, outer: themeColours.edge })
      if (marked) paint.works({ ...frame, marks, place: projectToClipSpace(marked, frame) })
      if (frame.outlined) paint.outline({ ...frame, ...frame.outlined, inner: WHITE, outer: BLACK })
      return true
    },
    drawBackground: () => clearCanvas(regl, themeColours.ground),
    destroy: () => regl.destroy(),
  }
}

function clearCanvas(regl: Regl, color: Colour) {
  regl.poll()
  regl.clear({ color })
}

/** The theme's colours; black until a theme is set. */
const selectThemeColours = (theme?: Theme) => ({
  ground: toShaderColour(theme?.ground),
  gridLine: toShaderColour(theme?.gridLine),
  edge: toShaderColour(theme?.edge),
})

/** A frame, measured in the texels of a level. */
function scaleFrame({ origin: [x, y], pixel }: Frame, depth: number) {
  const scale = 2 ** depth
  return { origin: [x / scale, y / scale], pixel: pixel / scale, scale }
}

function createPainters(regl: Regl) {
  const bindProp = (name: string) => regl.prop<Record<string, never>, string>(name)
  const bindProps = (...names: string[]) => Object.fromEntries(names.map((name) => [name, bindProp(name)]))
  const place = bindProps('place', 'canvasHeight')
  const camera = { ...place, ...bindProps('origin', 'pixel') }
  const grid = bindProps('gridStrength', 'gridLine', 'line', 'edge')
  const textures = bindProps('indices', 'palette', 'overlay', 'overlaid')
  return {
    near: regl({
      ...quad,
      frag: defineOpen(groundFrag + magnifyFrag),
      uniforms: { ...camera, ...grid, ...textures, wallSize: [WIDTH, HEIGHT] },
    }),
    far: regl({
      ...quad,
      frag: groundFrag + minifyFrag,
      uniforms: { ...camera, ...grid, ...bindProps('scale', 'level', 'levelSize') },
    }),
    works: regl({
      ...quad,
      frag: worksFrag,
      uniforms: { ...camera, ...bindProps('marks'), stroke: bindProp('line'), blocks: [COLS, ROWS] },
    }),
    outline: regl({
      ...quad,
      frag: outlineFrag,
      uniforms: { ...place, ...bindProps('box', 'stroke', 'inner', 'outer') },
    }),
  }
}

/** An area of an index texture in the form that regl uploads. */
function cropTexture(indices: IndexTexture, { left, top, right, bottom }: Rect) {
  const [width, height] = [right - left, bottom - top]
  // Whole lines are consecutive in memory.
  const data = width === WIDTH ? indices.subarray(top * WIDTH, bottom * WIDTH) : new Uint8Array(width * height)
  if (width < WIDTH)
    for (let y = 0; y < height; y++) {
      const start = (top + y) * WIDTH + left
      data.set(indices.subarray(start, start + width), y * width)
    }
  return { data, width, height, format: 'luminance' } as const
}

const toShaderColour = (colour = '#000000'): Colour => {
  const [red, green, blue] = parseColour(colour)
  return [red / 255, green / 255, blue / 255, 1]
}

/** The position of an area of the wall in clip space, given that of the whole wall. */
function projectToClipSpace({ left, top, right, bottom }: Rect, { place }: Frame): Frame['place'] {
  const [wallLeft, wallTop, wallRight, wallBottom] = place
  const projectX = (x: number) => wallLeft + (x / WIDTH) * (wallRight - wallLeft)
  const projectY = (y: number) => wallTop + (y / HEIGHT) * (wallBottom - wallTop)
  return [projectX(left), projectY(top), projectX(right), projectY(bottom)]
}
