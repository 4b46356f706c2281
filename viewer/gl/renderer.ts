/** Draws the wall on the GPU: an index texture looked up in a palette texture when near, averaged light when far. */

import createRegl, { type Regl } from 'regl'
import { PALETTE } from '../../shared/palette.ts'
import { HEIGHT, WIDTH } from '../../shared/wall.ts'
import type { Atlas } from '../atlas.ts'
import { bytesOf, type Theme } from '../theme.ts'
import type { Frame } from './frame.ts'
import { createLevels, depthFor } from './levels.ts'
import magnifyFrag from './magnify.frag?raw'
import minifyFrag from './minify.frag?raw'
import outlineFrag from './outline.frag?raw'
import wallVert from './wall.vert?raw'

const PALETTE_TEXTURE_SIZE = 256

export type Renderer = {
  /** Takes over a whole atlas; drawn with the next frame. */
  setAtlas(atlas: Atlas): void
  setTheme(theme: Theme): void
  draw(frame: Frame): void
  destroy(): void
}

/** `undefined` where the browser has no WebGL. */
export function createRenderer(canvas: HTMLCanvasElement): Renderer | undefined {
  const gl = canvas.getContext('webgl', { alpha: false, antialias: false, depth: false, stencil: false })
  return gl ? rendererOn(createRegl({ gl })) : undefined
}

function rendererOn(regl: Regl): Renderer {
  const atlas = regl.texture({ width: WIDTH, height: HEIGHT, format: 'luminance' })
  const palette = regl.texture({ width: PALETTE_TEXTURE_SIZE, height: 1 })
  const levels = createLevels(regl, atlas, palette)
  const paint = paintersOn(regl)
  let ground: [number, number, number, number] = [0, 0, 0, 1]
  let levelsStale = true

  return {
    setAtlas(data) {
      atlas({ data, width: WIDTH, height: HEIGHT, format: 'luminance' })
      levelsStale = true
    },
    setTheme(theme) {
      palette({ data: paletteBytes(theme), width: PALETTE_TEXTURE_SIZE, height: 1 })
      const [red, green, blue] = bytesOf(theme.ground)
      ground = [red / 255, green / 255, blue / 255, 1]
      levelsStale = true
    },
    draw(frame) {
      regl.poll()
      regl.clear({ color: ground })
      const depth = depthFor(frame.pixel)
      const level = levels.all[depth]
      if (frame.pixel <= 1 || level === undefined) {
        paint.near({ ...frame, atlas, palette })
      } else {
        if (levelsStale) levels.refresh()
        levelsStale = false
        const [x, y] = frame.origin
        const scale = 2 ** depth
        const origin: [number, number] = [x / scale, y / scale]
        paint.far({ ...frame, origin, pixel: frame.pixel / scale, level: level.target, levelSize: level.size })
      }
      if (frame.outlined) paint.outline({ ...frame, ...frame.outlined })
    },
    destroy: () => regl.destroy(),
  }
}

function paintersOn(regl: Regl) {
  const prop = (name: string) => regl.prop<Record<string, never>, string>(name)
  const quad = {
    vert: wallVert,
    attributes: { corner: [0, 0, 1, 0, 0, 1, 1, 1] },
    primitive: 'triangle strip',
    count: 4,
    depth: { enable: false },
  } as const
  const where = { place: prop('place'), canvasHeight: prop('canvasHeight') }
  const looking = { ...where, origin: prop('origin'), pixel: prop('pixel') }
  const wallSize = [WIDTH, HEIGHT]
  return {
    near: regl({
      ...quad,
      frag: magnifyFrag,
      uniforms: { ...looking, wallSize, atlas: prop('atlas'), palette: prop('palette') },
    }),
    far: regl({
      ...quad,
      frag: minifyFrag,
      uniforms: { ...looking, level: prop('level'), levelSize: prop('levelSize') },
    }),
    outline: regl({ ...quad, frag: outlineFrag, uniforms: { ...where, block: prop('block'), stroke: prop('stroke') } }),
  }
}

function paletteBytes(theme: Theme): Uint8Array {
  const bytes = new Uint8Array(PALETTE_TEXTURE_SIZE * 4)
  for (let i = 0; i < PALETTE_TEXTURE_SIZE; i++) {
    bytes.set([...bytesOf(PALETTE[i] ?? theme.own[i] ?? theme.ground), 255], i * 4)
  }
  return bytes
}
