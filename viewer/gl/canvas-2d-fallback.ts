/** The wall without a GPU: a plain 2d canvas, or the server's picture where the browser has no canvases at all. */

import { HEIGHT, WIDTH } from '../../shared/wall.ts'
import { createCanvasRenderer } from './canvas-renderer.ts'
import type { Frame } from './frame.ts'
import type { Renderer } from './renderer.ts'

const PICTURE = '/wall.png'

// The picture is loaded again at most this often, however many blocks change.
const AGAIN_MS = 10_000

/** Puts the fallback before the stage's canvas, which still receives the input. It shows overlays only where there are canvases. */
export function createFallback(stage: HTMLCanvasElement): Renderer & { readonly showsOverlays: boolean } {
  const canvas = document.createElement('canvas')
  const own = createCanvasRenderer(canvas)
  const { shown, ...renderer } = own === undefined ? createPicture() : { shown: canvas, ...own }
  shown.className = 'fallback'
  stage.before(shown)
  return {
    ...renderer,
    showsOverlays: own !== undefined,
    draw(frame) {
      const { width, height } = stage
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height })
      renderer.draw(frame)
    },
    destroy: () => shown.remove(),
  }
}

function createPicture() {
  const image = new Image(WIDTH, HEIGHT)
  image.alt = ''
  image.src = PICTURE
  let again: ReturnType<typeof setTimeout> | undefined
  let count = 0
  const nothing = () => {}
  return {
    shown: image,
    setTexture: nothing,
    setOverlay: nothing,
    setMarks: nothing,
    setTheme: nothing,
    blank: nothing,
    setBlocks() {
      again ??= setTimeout(() => {
        again = undefined
        image.src = `${PICTURE}?${++count}`
      }, AGAIN_MS)
    },
    draw({ origin: [x, y], pixel }: Frame) {
      const scale = 1 / pixel / devicePixelRatio
      image.style.transform = `translate(${-x * scale}px, ${-y * scale}px) scale(${scale})`
    },
  }
}
