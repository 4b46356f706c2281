/**
 * The wall in linear light at full, half, quarter and eighth size, for zooms at which its pixels are smaller than the
 * screen's.
 */

import type { Framebuffer2D, Regl, Texture2D } from 'regl'
import { HEIGHT, WIDTH } from '../../shared/wall.ts'
import type { Rect } from '../camera/camera.ts'
import { OPEN } from '../wall/pixel-buffer.ts'
import type { Frame } from './frame.ts'
import halveFrag from './halve.frag?raw'
import resolveFrag from './resolve.frag?raw'
import wallVert from './wall.vert?raw'

// An eighth is enough: on a screen 320 pixels wide, the whole wall is shown at a fifth of its size.
const LEVEL_COUNT = 4

type Level = { readonly size: [number, number]; readonly target: Framebuffer2D }

/** The textures of a wall. */
export type Textures = { readonly indices: Texture2D; readonly palette: Texture2D; readonly overlay: Texture2D }

/** The common part of all draw calls: the four corners of a rectangle, which a fragment shader colours. */
export const quad = {
  vert: wallVert,
  attributes: { corner: [0, 0, 1, 0, 0, 1, 1, 1] },
  primitive: 'triangle strip',
  count: 4,
  depth: { enable: false },
} as const

/** Defines `OPEN`, the byte of open pixels, at the start of a shader's source. */
export const defineOpen = (frag: string): string => `#define OPEN ${OPEN}.0\n${frag}`

/** Levels of an index texture; empty until refreshed. */
export function createLevels(regl: Regl, textures: Textures) {
  const all = Array.from({ length: LEVEL_COUNT }, (_, depth) => createLevel(regl, depth))
  const framebuffer = regl.prop<{ to: Framebuffer2D }, 'to'>('to')
  const size = regl.prop<{ size: [number, number] }, 'size'>('size')
  const from = regl.prop<{ from: Framebuffer2D }, 'from'>('from')
  const place = regl.prop<{ place: Frame['place'] }, 'place'>('place')
  const resolve = regl({
    ...quad,
    frag: defineOpen(resolveFrag),
    uniforms: { ...textures, size, place },
    framebuffer,
  })
  const halve = regl({ ...quad, frag: halveFrag, uniforms: { above: from, aboveSize: size, place }, framebuffer })
  return {
    all,
    /** Redraws an area of every level from the index texture. */
    refresh(area: Rect) {
      all.forEach((level, depth) => {
        const above = all[depth - 1]
        const part = scaleToLevel(area, depth, level.size)
        if (above === undefined) resolve({ to: level.target, size: level.size, place: part })
        else halve({ to: level.target, from: above.target, size: above.size, place: part })
      })
    },
  }
}

/** The position of an area of the wall in a level, in clip space, extended to whole texels. */
function scaleToLevel(
  { left, top, right, bottom }: Rect,
  depth: number,
  [width, height]: Level['size'],
): Frame['place'] {
  const scale = 2 ** depth
  const projectFirst = (value: number, count: number) => (Math.floor(value / scale) / count) * 2 - 1
  const projectLast = (value: number, count: number) => (Math.min(Math.ceil(value / scale), count) / count) * 2 - 1
  return [projectFirst(left, width), projectFirst(top, height), projectLast(right, width), projectLast(bottom, height)]
}

/** The level whose texels are at most as large as device pixels, and more than half as large. */
export function chooseDepth(wallPixelsPerDevicePixel: number): number {
  return Math.max(0, Math.min(Math.floor(Math.log2(wallPixelsPerDevicePixel)), LEVEL_COUNT - 1))
}

function createLevel(regl: Regl, depth: number): Level {
  const width = Math.ceil(WIDTH / 2 ** depth)
  const height = Math.ceil(HEIGHT / 2 ** depth)
  return { size: [width, height], target: regl.framebuffer({ width, height, depthStencil: false }) }
}
