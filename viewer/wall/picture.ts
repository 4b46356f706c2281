/** Parts of the wall as images. */

import { WIDTH } from '../../shared/wall.ts'
import type { Rect } from '../camera/camera.ts'
import type { IndexTexture } from './pixel-buffer.ts'

/** An area of the texture, one pixel for each of the wall's; `colours` as `coloursOf` answers them. */
export function imageOf(texture: IndexTexture, { left, top, right, bottom }: Rect, colours: Uint8Array): ImageData {
  const [width, height] = [right - left, bottom - top]
  const colourOf = new Uint32Array(colours.buffer)
  const rgba = new Uint32Array(width * height)
  for (let y = 0; y < height; y++) {
    const row = (top + y) * WIDTH + left
    for (let x = 0; x < width; x++) rgba[y * width + x] = colourOf[texture[row + x] ?? 0] ?? 0
  }
  return new ImageData(new Uint8ClampedArray(rgba.buffer), width, height)
}
