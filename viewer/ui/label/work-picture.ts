/** A work's picture by itself, enlarged. */

import { PALETTE } from '../../../shared/palette.ts'
import { BLOCK_SIZE, cellOf } from '../../../shared/wall.ts'
import type { Work } from '../../../shared/works.ts'
import { bytesOf, type Theme } from '../../theme.ts'
import { areaOf } from '../../wall/artworks.ts'
import { pictureAt, type Atlas } from '../../wall/pixel-buffer.ts'

/** A canvas with a pixel for each of the work's, which page.css enlarges without smoothing; what is not of the work is left clear. */
export function drawWork(atlas: Atlas, blocks: Work, theme: Theme): HTMLCanvasElement {
  const { left, top, right, bottom } = areaOf(blocks)
  const canvas = document.createElement('canvas')
  canvas.className = 'picture'
  canvas.width = right - left
  canvas.height = bottom - top
  canvas.style.setProperty('--ratio', `${canvas.width} / ${canvas.height}`)
  const context = canvas.getContext('2d')
  const colours = coloursOf(theme)
  for (const block of blocks) {
    const { col, row } = cellOf(block)
    const image = new ImageData(BLOCK_SIZE, BLOCK_SIZE)
    const pixels = new Uint32Array(image.data.buffer)
    pictureAt(atlas, block).forEach((byte, i) => (pixels[i] = colours[byte] ?? 0))
    context?.putImageData(image, col * BLOCK_SIZE - left, row * BLOCK_SIZE - top)
  }
  return canvas
}

const BYTES = 256
const tables = new WeakMap<Theme, Uint32Array>()

/** The colour of each byte of the wall's buffer, as four bytes a pixel. */
export function coloursOf(theme: Theme): Uint32Array {
  const ready = tables.get(theme)
  if (ready !== undefined) return ready
  const table = new Uint32Array(BYTES)
  const parts = new Uint8Array(table.buffer)
  for (let i = 0; i < BYTES; i++) parts.set([...bytesOf(PALETTE[i] ?? theme.own[i] ?? theme.ground), 255], i * 4)
  tables.set(theme, table)
  return table
}
