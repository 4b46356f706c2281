/** A block's picture enlarged. */

import { PALETTE } from '../../shared/palette.ts'
import { BLOCK_SIZE } from '../../shared/wall.ts'
import { bytesOf, type Theme } from '../theme.ts'

/** A canvas of 10 x 10 pixels, which page.css enlarges without smoothing. */
export function drawPicture(bytes: Uint8Array, theme: Theme): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  canvas.className = 'picture'
  canvas.width = BLOCK_SIZE
  canvas.height = BLOCK_SIZE
  const image = new ImageData(BLOCK_SIZE, BLOCK_SIZE)
  bytes.forEach((byte, i) => image.data.set([...bytesOf(PALETTE[byte] ?? theme.own[byte] ?? theme.ground), 255], i * 4))
  canvas.getContext('2d')?.putImageData(image, 0, 0)
  return canvas
}
