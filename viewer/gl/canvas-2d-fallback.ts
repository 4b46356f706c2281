/** The wall without a GPU: canvases that the browser moves and enlarges, or the server's picture where it has no canvases. */

import { HEIGHT, WIDTH } from '../../shared/wall.ts'
import { createGrid } from './canvas-grid.ts'
import { createLayers } from './canvas-layers.ts'
import type { Frame } from './frame.ts'
import type { Renderer } from './renderer.ts'
import { createMarks } from './svg-marks.ts'

const PICTURE = '/wall.png'

// The picture is loaded again at most this often, however many blocks change.
const AGAIN_MS = 10_000

/** A renderer that shows overlays only where there are canvases. */
export type Fallback = Renderer & { readonly showsOverlays: boolean }

/** Puts the fallback before the canvas, which still receives the input. */
export function createFallback(canvas: HTMLCanvasElement): Fallback {
  const canvases = createLayers()
  const picture = canvases === undefined ? createPicture() : undefined
  const layers = canvases?.layers ?? (picture === undefined ? [] : [picture.image])
  const marks = createMarks()
  const outline = document.createElement('div')
  outline.className = 'outline'
  const grid = createGrid()
  canvas.before(grid.element, ...layers, marks.element, outline)

  return {
    showsOverlays: canvases !== undefined,
    setTexture: (texture) => canvases?.setTexture(texture),
    setBlocks: (texture, blocks) => (canvases ? canvases.setBlocks(texture, blocks) : picture?.readAgain()),
    setOverlay: (overlay) => canvases?.setOverlay(overlay),
    // Light on the ground is for those whose machine draws it at no cost.
    setFreshness() {},
    setMarks: (blocks) => marks.set(blocks),
    setTheme(theme) {
      canvases?.setTheme(theme)
      grid.setTheme(theme)
    },
    // The page's own ground is behind the stage.
    blank() {},
    draw(frame) {
      const { origin, pixel, outlined } = frame
      const [x, y] = origin
      const scale = 1 / pixel / devicePixelRatio
      grid.draw(frame, canvas)
      for (const layer of layers) {
        layer.style.transform = `translate(${-x * scale}px, ${-y * scale}px) scale(${(scale * WIDTH) / layer.width})`
        layer.classList.toggle('near', scale >= 1)
      }
      marks.place(x, y, scale)
      placeOutline(outline, outlined)
    },
    destroy: () => [grid.element, ...layers, marks.element, outline].forEach((element) => element.remove()),
  }
}

/** The server's picture. */
function createPicture() {
  const image = new Image(WIDTH, HEIGHT)
  image.alt = ''
  image.className = 'fallback'
  image.src = PICTURE
  let again: ReturnType<typeof setTimeout> | undefined
  let count = 0
  return {
    image,
    readAgain() {
      again ??= setTimeout(() => {
        again = undefined
        image.src = `${PICTURE}?${++count}`
      }, AGAIN_MS)
    },
  }
}

function placeOutline(outline: HTMLElement, outlined: Frame['outlined']) {
  outline.hidden = outlined === undefined
  if (outlined === undefined) return
  const [left, top, right, bottom] = outlined.box
  const px = (devicePixels: number) => `${devicePixels / devicePixelRatio}px`
  outline.style.transform = `translate(${px(left)}, ${px(top)})`
  outline.style.width = px(right - left)
  outline.style.height = px(bottom - top)
}
