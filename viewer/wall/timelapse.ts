/** The history of a part of the wall as an animated GIF. */

import { WIDTH, type BlockIndex } from '../../shared/wall.ts'
import type { Rect } from '../camera/camera.ts'
import { createColourTable, type Theme } from '../theme.ts'
import { computeBounds } from './artworks.ts'
import { CLEAR_PIXEL, GIF_END, encodeFrame, encodeHeader } from './gif.ts'
import { createTexture, paintBlock, type IndexTexture } from './pixel-buffer.ts'

/** A change of a block; `px` is its new picture in base64, or undefined if it has none. */
export type Step = { readonly block: BlockIndex; readonly px: string | undefined }

/** The steps inside the area, in order of time, with the area and the theme to draw. */
export type TimelapseInput = { readonly steps: readonly Step[]; readonly area: Rect; readonly theme: Theme }

// A long history takes about twenty seconds; a short one has one frame per step.
const FRAMES_MAX = 240
const FRAME_HUNDREDTHS = 8
const LAST_HUNDREDTHS = 250

// A small area is enlarged by the largest whole factor at which its longer side has at most this many pixels.
const SIDE = 480

/** Yields the GIF file in pieces, each with the share of the frames finished so far, from 0 to 1. */
export function* renderTimelapse(input: TimelapseInput): Generator<readonly [Uint8Array<ArrayBuffer>, number]> {
  const { steps, area, theme } = input
  const [width, height] = [area.right - area.left, area.bottom - area.top]
  const scale = Math.max(1, Math.floor(SIDE / Math.max(width, height)))
  const texture = createTexture()
  const count = Math.min(FRAMES_MAX, steps.length)
  const createFrame = (whole: Rect, parts: readonly Rect[], hundredths: number) =>
    encodeFrame({
      left: (whole.left - area.left) * scale,
      top: (whole.top - area.top) * scale,
      width: (whole.right - whole.left) * scale,
      height: (whole.bottom - whole.top) * scale,
      indices: scaleIndices(texture, whole, parts, scale),
      hundredths,
    })
  yield [encodeHeader(width * scale, height * scale, createRgbTable(theme)), 0]
  yield [createFrame(area, [area], FRAME_HUNDREDTHS), 0]
  const computeEnd = (n: number) => Math.round((n * steps.length) / count)
  for (let n = 0; n < count; n++) {
    const touched = new Set<BlockIndex>()
    for (const { block, px } of steps.slice(computeEnd(n), computeEnd(n + 1))) {
      paintBlock(texture, block, px)
      touched.add(block)
    }
    const parts = [...touched].map((block) => computeBounds([block]))
    const isLast = n === count - 1
    yield [
      createFrame(computeBounds([...touched]), parts, isLast ? LAST_HUNDREDTHS : FRAME_HUNDREDTHS),
      (n + 1) / count,
    ]
  }
  yield [GIF_END, 1]
}

/** The indices of an area, enlarged by the factor `scale`; transparent outside `parts`. */
function scaleIndices(texture: IndexTexture, area: Rect, parts: readonly Rect[], scale: number): Uint8Array {
  const width = (area.right - area.left) * scale
  const indices = new Uint8Array(width * (area.bottom - area.top) * scale).fill(CLEAR_PIXEL)
  for (const { left, top, right, bottom } of parts)
    for (let y = top; y < bottom; y++) {
      const start = (y - area.top) * scale * width
      const [from, until] = [start + (left - area.left) * scale, start + (right - area.left) * scale]
      for (let x = left, at = from; x < right; x++, at += scale)
        indices.fill(texture[y * WIDTH + x] ?? CLEAR_PIXEL, at, at + scale)
      for (let again = 1; again < scale; again++) indices.copyWithin(from + again * width, from, until)
    }
  return indices
}

const createRgbTable = (theme: Theme) => createColourTable(theme).filter((_, at) => at % 4 < 3)
