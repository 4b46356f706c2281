/** A work's picture by itself, enlarged. */

import type { Work } from '../../../shared/works.ts'
import { coloursOf, type Theme } from '../../theme.ts'
import { boundsOf } from '../../wall/artworks.ts'
import { imageOf } from '../../wall/picture.ts'
import type { IndexTexture } from '../../wall/pixel-buffer.ts'

/** A canvas with one pixel for each of the work's, which label.css enlarges without smoothing. What is not of the work stays clear. */
export function drawWork(texture: IndexTexture, blocks: Work, theme: Theme): HTMLCanvasElement {
  const { left, top, right, bottom } = boundsOf(blocks)
  const canvas = document.createElement('canvas')
  canvas.className = 'picture'
  canvas.width = right - left
  canvas.height = bottom - top
  canvas.style.setProperty('--ratio', `${canvas.width} / ${canvas.height}`)
  const context = canvas.getContext('2d')
  const colours = coloursOf(theme)
  for (const block of blocks) {
    const area = boundsOf([block])
    context?.putImageData(imageOf(texture, area, colours), area.left - left, area.top - top)
  }
  return canvas
}
