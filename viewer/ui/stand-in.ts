/** The server's picture of the wall in place of the GPU's, where a browser has none: moved and enlarged by the browser itself. */

import { HEIGHT, WIDTH } from '../../shared/wall.ts'
import type { Renderer } from '../gl/renderer.ts'

const PICTURE = '/wall.png'

// The picture is read again at most this often, however many blocks change.
const AGAIN_MS = 10_000

/** Stands in front of the canvas, which goes on receiving what hands do. */
export function createStandIn(canvas: HTMLCanvasElement): Renderer {
  const image = new Image(WIDTH, HEIGHT)
  image.alt = ''
  image.className = 'stand-in'
  image.src = PICTURE
  const outline = document.createElement('div')
  outline.className = 'outline'
  canvas.before(image, outline)
  let again: ReturnType<typeof setTimeout> | undefined
  let count = 0

  const readAgain = () => {
    again ??= setTimeout(() => {
      again = undefined
      image.src = `${PICTURE}?${++count}`
    }, AGAIN_MS)
  }

  return {
    setAtlas: () => {},
    setBlocks: readAgain,
    setVeil: () => {},
    setMarks: () => {},
    setTheme: () => {},
    draw({ origin: [x, y], pixel, outlined }) {
      const scale = 1 / pixel / devicePixelRatio
      image.style.transform = `scale(${scale}) translate(${-x}px, ${-y}px)`
      image.classList.toggle('near', scale >= 1)
      outline.hidden = outlined === undefined
      if (outlined === undefined) return
      const [left, top, right, bottom] = outlined.block
      const px = (devicePixels: number) => `${devicePixels / devicePixelRatio}px`
      outline.style.transform = `translate(${px(left)}, ${px(top)})`
      outline.style.width = px(right - left)
      outline.style.height = px(bottom - top)
    },
    destroy: () => {
      image.remove()
      outline.remove()
    },
  }
}
