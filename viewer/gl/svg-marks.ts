/** Lines around marked works where there is no GPU: a drawing whose lines are as wide at every zoom. */

import { HEIGHT, WIDTH, type BlockIndex } from '../../shared/wall.ts'
import { edgesOf } from '../wall/artworks.ts'

const SVG = 'http://www.w3.org/2000/svg'

export type Marks = {
  readonly element: SVGElement
  /** Draws around blocks. */
  set(blocks: readonly BlockIndex[]): void
  /** Puts the wall's point `x`, `y` at the stage's corner, `scale` CSS pixels to each of the wall's. */
  place(x: number, y: number, scale: number): void
}

/** An empty drawing. */
export function createMarks(): Marks {
  const element = document.createElementNS(SVG, 'svg')
  element.setAttribute('class', 'marks')
  element.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`)
  // Light within dark, so that it shows on every colour.
  const lines = ['halo', ''].map((name) => {
    const line = document.createElementNS(SVG, 'path')
    line.setAttribute('class', name)
    return line
  })
  element.append(...lines)
  return {
    element,
    set(blocks) {
      const path = edgesOf(blocks)
      for (const line of lines) line.setAttribute('d', path)
    },
    // Its size, unlike a scale, leaves its lines as wide as they are.
    place(x, y, scale) {
      element.style.width = `${WIDTH * scale}px`
      element.style.height = `${HEIGHT * scale}px`
      element.style.transform = `translate(${-x * scale}px, ${-y * scale}px)`
    },
  }
}
