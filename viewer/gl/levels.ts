/** The wall in light at full size and at a half, a quarter and an eighth of it, for when its pixels are smaller than the screen's. */

import type { Framebuffer2D, Regl, Texture2D } from 'regl'
import { HEIGHT, WIDTH } from '../../shared/wall.ts'
import fullVert from './full.vert?raw'
import halveFrag from './halve.frag?raw'
import resolveFrag from './resolve.frag?raw'

// An eighth is enough: the whole wall on a screen 320 pixels wide is a fifth.
const LEVEL_COUNT = 4

export type Level = { readonly size: [number, number]; readonly target: Framebuffer2D }

export type Levels = {
  readonly all: readonly Level[]
  /** Draws every level anew from the atlas. */
  refresh(): void
}

/** The textures a wall is made of. */
export type Textures = { readonly atlas: Texture2D; readonly palette: Texture2D; readonly veil: Texture2D }

/** Levels of an atlas texture; empty until refreshed. */
export function createLevels(regl: Regl, textures: Textures): Levels {
  const all = Array.from({ length: LEVEL_COUNT }, (_, depth) => createLevel(regl, depth))
  const triangle = {
    vert: fullVert,
    attributes: { corner: [-1, -1, 3, -1, -1, 3] },
    count: 3,
    depth: { enable: false },
  }
  const framebuffer = regl.prop<{ to: Framebuffer2D }, 'to'>('to')
  const size = regl.prop<{ size: [number, number] }, 'size'>('size')
  const from = regl.prop<{ from: Framebuffer2D }, 'from'>('from')
  const resolve = regl({ ...triangle, frag: resolveFrag, uniforms: { ...textures, size }, framebuffer })
  const halve = regl({ ...triangle, frag: halveFrag, uniforms: { above: from, aboveSize: size }, framebuffer })
  return {
    all,
    refresh() {
      all.forEach((level, depth) => {
        const above = all[depth - 1]
        if (above === undefined) resolve({ to: level.target, size: level.size })
        else halve({ to: level.target, from: above.target, size: above.size })
      })
    },
  }
}

/** The level whose texels are at most as large as device pixels, and more than half as large. */
export function depthFor(wallPixelsPerDevicePixel: number): number {
  return Math.max(0, Math.min(Math.floor(Math.log2(wallPixelsPerDevicePixel)), LEVEL_COUNT - 1))
}

function createLevel(regl: Regl, depth: number): Level {
  const width = Math.ceil(WIDTH / 2 ** depth)
  const height = Math.ceil(HEIGHT / 2 ** depth)
  return { size: [width, height], target: regl.framebuffer({ width, height, depthStencil: false }) }
}
