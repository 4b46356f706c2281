/** Draws the wall without a GPU, on a plain 2d canvas in place of the stage's own canvas. */

import { createCanvasRenderer } from './canvas-renderer.ts'
import type { Renderer } from './renderer.ts'

/**
 * Creates a renderer on a new canvas under the stage's own, which still receives the input; `undefined` if the browser
 * has no 2d canvas.
 */
export function createFallback(stage: HTMLCanvasElement): Renderer | undefined {
  const canvas = document.createElement('canvas')
  const renderer = createCanvasRenderer(canvas)
  if (renderer === undefined) return undefined
  canvas.className = 'fallback'
  stage.before(canvas)
  return {
    ...renderer,
    draw(frame) {
      const { width, height } = stage
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height })
      return renderer.draw(frame)
    },
    destroy: () => canvas.remove(),
  }
}
