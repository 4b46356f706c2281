/** The whole wall in small while only a part of it is on the stage. */

import { PALETTE } from '../../shared/palette.ts'
import { COLS, HEIGHT, ROWS, WIDTH, ALL_BLOCKS } from '../../shared/wall.ts'
import { fit, toWall } from '../camera/camera.ts'
import type { Page, Part } from '../page.ts'
import { shownWall, type State } from '../state.ts'
import { bytesOf, type Theme } from '../theme.ts'
import { pictureAt, type Atlas } from '../wall/pixel-buffer.ts'
import type { Wall } from '../wall/wall-model.ts'
import { make } from './dom.ts'

// Shown from this many times the size of the whole wall.
const SHOWN_FROM = 1.5

/** A picture of one pixel a block with a frame around what the stage shows; a press moves the stage there. */
export function createMinimap(page: Page, stage: HTMLElement): Part {
  const picture = make('canvas', '')
  picture.width = COLS
  picture.height = ROWS
  const frame = make('div', 'frame')
  const element = make('div', 'minimap', picture, frame)
  element.ariaHidden = 'true'
  element.hidden = true
  stage.append(element)
  let drawn: Wall | undefined

  const draw = (state: State) => {
    const wall = shownWall(state)
    if (wall === undefined || wall === drawn) return
    const context = picture.getContext('2d')
    const blocks = drawn?.atlas === wall.atlas ? (wall.changed ?? ALL_BLOCKS) : ALL_BLOCKS
    drawn = wall
    for (const block of blocks) {
      context?.putImageData(
        dot(averageOf(wall.atlas, block, page.look.theme())),
        block % COLS,
        Math.floor(block / COLS),
      )
    }
  }
  const go = (event: PointerEvent) => {
    if (event.buttons === 0) return
    const on = { x: (event.offsetX / element.clientWidth) * WIDTH, y: (event.offsetY / element.clientHeight) * HEIGHT }
    page.send({ do: 'centre', on })
  }
  element.addEventListener('pointerdown', (event) => {
    element.setPointerCapture(event.pointerId)
    go(event)
  })
  element.addEventListener('pointermove', go)

  return {
    update(next) {
      if (!element.hidden) draw(next)
      else if (shownWall(next) !== drawn) drawn = undefined
    },
    restyle(state) {
      drawn = undefined
      if (!element.hidden) draw(state)
    },
    frame(state) {
      const { camera, view } = state
      element.hidden = camera.zoom < fit(view).zoom * SHOWN_FROM
      if (element.hidden) return
      draw(state)
      const first = toWall(camera, view, { x: 0, y: 0 })
      const last = toWall(camera, view, { x: view.width, y: view.height })
      const share = (value: number, whole: number) => `${Math.max(0, Math.min(value / whole, 1)) * 100}%`
      frame.style.left = share(first.x, WIDTH)
      frame.style.top = share(first.y, HEIGHT)
      frame.style.right = share(WIDTH - last.x, WIDTH)
      frame.style.bottom = share(HEIGHT - last.y, HEIGHT)
    },
  }
}

type Rgb = readonly [number, number, number]

/** A block's colour from afar; good enough without the light's true curve at this size. */
function averageOf(atlas: Atlas, block: (typeof ALL_BLOCKS)[number], theme: Theme): Rgb {
  const bytes = pictureAt(atlas, block)
  const sum = [0, 0, 0]
  for (const byte of bytes) {
    bytesOf(PALETTE[byte] ?? theme.own[byte] ?? theme.ground).forEach(
      (level, i) => (sum[i] = (sum[i] ?? 0) + level ** 2),
    )
  }
  const [r = 0, g = 0, b = 0] = sum.map((squares) => Math.round(Math.sqrt(squares / bytes.length)))
  return [r, g, b]
}

const dot = (rgb: Rgb) => new ImageData(new Uint8ClampedArray([...rgb, 255]), 1, 1)
