/** The grid of open blocks where there is no GPU: their ground, lines of the same width at every zoom, and the wall's edge. */

import { BLOCK_SIZE, COLS, ROWS } from '../../shared/wall.ts'
import { dark, type Theme } from '../theme.ts'
import { OPEN } from '../wall/pixel-buffer.ts'
import type { Frame } from './frame.ts'

export type Grid = {
  readonly element: HTMLCanvasElement
  setTheme(theme: Theme): void
  /** Draws the part that is on a stage of the size of `stage`. */
  draw(frame: Frame, stage: HTMLCanvasElement): void
}

// Lines around ten by ten blocks stand out among those around each.
const TEN = 10

/** A canvas of the stage's size that is drawn for every frame: an enlarged one would have lines as wide as its pixels. */
export function createGrid(): Grid {
  const element = document.createElement('canvas')
  element.className = 'grid'
  const context = element.getContext('2d')
  let theme = dark
  return {
    element,
    setTheme: (other) => void (theme = other),
    draw({ origin: [x, y], pixel, line, gridStrength }, { width, height }) {
      if (context === null) return
      if (element.width !== width || element.height !== height) Object.assign(element, { width, height })
      const side = BLOCK_SIZE / pixel
      const [left, top] = [Math.round(-x / pixel), Math.round(-y / pixel)]
      const [wide, high] = [COLS * side, ROWS * side]
      context.globalAlpha = 1
      context.clearRect(0, 0, width, height)
      context.fillStyle = theme.edge
      context.fillRect(left - line, top - line, wide + 2 * line, high + 2 * line)
      context.fillStyle = theme.own[OPEN] ?? theme.ground
      context.fillRect(left, top, wide, high)
      context.fillStyle = theme.gridLine
      const drawLines = (count: number, from: number, size: number, fill: (at: number) => void) => {
        for (let n = Math.max(0, Math.floor(-from / side)); n < count && from + n * side < size; n++) {
          context.globalAlpha = n % TEN === 0 ? gridStrength[1] : gridStrength[0]
          if (context.globalAlpha > 0) fill(Math.round(from + n * side))
        }
      }
      drawLines(COLS, left, width, (at) => context.fillRect(at, top, line, high))
      drawLines(ROWS, top, height, (at) => context.fillRect(left, at, wide, line))
    },
  }
}
