/** Parts of the wall as pictures of their own. */

import { PALETTE } from '../../shared/palette.ts'
import { WIDTH } from '../../shared/wall.ts'
import type { Area } from '../camera/camera.ts'
import { bytesOf, type Theme } from '../theme.ts'
import type { Atlas } from './pixel-buffer.ts'

export type Picture = {
  readonly width: number
  readonly height: number
  readonly rgba: Uint8ClampedArray<ArrayBuffer>
}

/** An area of the atlas, each wall pixel `scale` pixels wide. */
export function pictureOf(atlas: Atlas, { left, top, right, bottom }: Area, scale: number, theme: Theme): Picture {
  const width = (right - left) * scale
  const height = (bottom - top) * scale
  const rgba = new Uint8ClampedArray(width * height * 4)
  const colours = Array.from({ length: 256 }, (_, byte) => bytesOf(PALETTE[byte] ?? theme.own[byte] ?? theme.ground))
  for (let y = 0; y < height; y++) {
    const row = (top + Math.floor(y / scale)) * WIDTH + left
    for (let x = 0; x < width; x++) {
      const colour = colours[atlas[row + Math.floor(x / scale)] ?? 0] ?? [0, 0, 0]
      rgba.set(colour, (y * width + x) * 4)
      rgba[(y * width + x) * 4 + 3] = 255
    }
  }
  return { width, height, rgba }
}
