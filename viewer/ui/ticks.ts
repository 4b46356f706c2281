/** Coordinates along the stage's edges where blocks are large enough, as on a map. */

import { BLOCK_SIZE, COLS, ROWS } from '../../shared/wall.ts'
import { toScreen, toWall, type Camera, type View } from '../camera/camera.ts'
import { addLayer, createElement } from './dom.ts'

// In CSS pixels: blocks smaller than this have no coordinates, and two coordinates stand no nearer than that.
const BLOCK_PX = 24
const APART_PX = 72

const STEPS = [1, 2, 5, 10]

/** Column numbers along the top and row numbers along the left; answers how to draw them, or none where they are not wanted. */
export function createTicks(stage: HTMLElement): (camera: Camera, view: View, isWanted: boolean) => void {
  const layer = addLayer(stage, 'ticks')
  const across = pool(layer)
  const down = pool(layer)

  return (camera, view, isWanted) => {
    const side = BLOCK_SIZE * camera.zoom
    layer.hidden = !isWanted || side < BLOCK_PX
    if (layer.hidden) return
    const step = STEPS.find((blocks) => blocks * side >= APART_PX) ?? 10
    const first = toWall(camera, view, { x: 0, y: 0 })
    const last = toWall(camera, view, { x: view.width, y: view.height })
    const cols = numbersBetween(first.x / BLOCK_SIZE, last.x / BLOCK_SIZE, step, COLS)
    const rows = numbersBetween(first.y / BLOCK_SIZE, last.y / BLOCK_SIZE, step, ROWS)
    const middle = BLOCK_SIZE / 2
    across(cols, (col) => toScreen(camera, view, { x: col * BLOCK_SIZE + middle, y: 0 }).x, 'translateX')
    down(rows, (row) => toScreen(camera, view, { x: 0, y: row * BLOCK_SIZE + middle }).y, 'translateY')
  }
}

/** Multiples of a step between two numbers, within the wall. */
function numbersBetween(from: number, to: number, step: number, count: number): number[] {
  const first = Math.max(0, Math.ceil(from / step) * step)
  const last = Math.min(count - 1, to)
  return Array.from({ length: Math.max(0, Math.floor((last - first) / step) + 1) }, (_, i) => first + i * step)
}

/** Shows numbers in elements that are created once and reused. */
function pool(layer: HTMLElement) {
  const elements: HTMLElement[] = []
  return (numbers: readonly number[], placeOf: (n: number) => number, way: 'translateX' | 'translateY') => {
    while (elements.length < numbers.length) {
      const element = createElement(way === 'translateX' ? 'span.col' : 'span.row')
      elements.push(element)
      layer.append(element)
    }
    elements.forEach((element, i) => {
      const number = numbers[i]
      element.hidden = number === undefined
      if (number === undefined) return
      if (element.textContent !== String(number)) element.textContent = String(number)
      element.style.transform = `${way}(${Math.round(placeOf(number))}px)`
    })
  }
}
