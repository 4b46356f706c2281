/** Shows coordinates along the stage's edges, as on a map, if blocks are large enough. */

import { BLOCK_SIZE, COLS, ROWS } from '../../shared/wall.ts'
import { toScreen, toWall, type Camera, type View } from '../camera/camera.ts'
import { addLayer, createElement } from './dom.ts'

// In CSS pixels: the smallest block size at which coordinates are shown, and the smallest distance between them.
const BLOCK_PX = 24
const APART_PX = 72

const STEPS = [1, 2, 5, 10]

/**
 * Column numbers along the top and row numbers along the left; returns a function that draws them, or hides them if
 * they are unwanted or blocks are too small.
 */
export function createTicks(stage: HTMLElement): (camera: Camera, view: View, isWanted: boolean) => void {
  const layer = addLayer(stage, 'ticks')
  return (camera, view, isWanted) => {
    const side = BLOCK_SIZE * camera.zoom
    layer.hidden = !isWanted || side < BLOCK_PX
    if (layer.hidden) return
    const step = STEPS.find((blocks) => blocks * side >= APART_PX) ?? 10
    const first = toWall(camera, view, { x: 0, y: 0 })
    const last = toWall(camera, view, { x: view.width, y: view.height })
    const cols = listNumbersBetween(first.x / BLOCK_SIZE, last.x / BLOCK_SIZE, step, COLS)
    const rows = listNumbersBetween(first.y / BLOCK_SIZE, last.y / BLOCK_SIZE, step, ROWS)
    const locateMiddle = (col: number, row: number) =>
      toScreen(camera, view, { x: (col + 0.5) * BLOCK_SIZE, y: (row + 0.5) * BLOCK_SIZE })
    layer.replaceChildren(
      ...cols.map((col) => createTick('span.col', col, `translateX(${Math.round(locateMiddle(col, 0).x)}px)`)),
      ...rows.map((row) => createTick('span.row', row, `translateY(${Math.round(locateMiddle(0, row).y)}px)`)),
    )
  }
}

function createTick(selector: 'span.col' | 'span.row', number: number, transform: string): HTMLElement {
  const element = createElement(selector, String(number))
  element.style.transform = transform
  return element
}

/** The multiples of `step` between two numbers; none is below 0 or reaches `count`. */
function listNumbersBetween(from: number, to: number, step: number, count: number): number[] {
  const first = Math.max(0, Math.ceil(from / step) * step)
  const last = Math.min(count - 1, to)
  return Array.from({ length: Math.max(0, Math.floor((last - first) / step) + 1) }, (_, i) => first + i * step)
}
