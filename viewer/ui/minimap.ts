/**
 * The minimap shows the whole wall while only a part of it is on the stage. It is hidden on phones, and until the
 * visitor has moved the wall.
 */

import { ALL_BLOCKS, BLOCK_SIZE, getCell, COLS, HEIGHT, ROWS, WIDTH, type BlockIndex } from '../../shared/wall.ts'
import { fitWall, toWall } from '../camera/camera.ts'
import { chooseLabelShape } from '../camera/label-layout.ts'
import type { Page, Component } from '../page.ts'
import { selectShownWall, type State } from '../state.ts'
import { createColourTable } from '../theme.ts'
import type { IndexTexture } from '../wall/pixel-buffer.ts'
import type { Wall } from '../wall/wall-model.ts'
import { addLayer, createElement, createPicture } from './dom.ts'

// The minimap is shown from this many times the zoom at which the whole wall fits the stage.
const SHOWN_FROM = 1.5

const BYTES_A_PIXEL = 4
const OPAQUE = 255

/** A picture with one pixel per block, and a frame around the visible part. A press or drag moves the view. */
export function createMinimap(page: Page, stage: HTMLElement): Component {
  const picture = createPicture(COLS, ROWS)
  const frame = createElement('div.frame')
  const element = addLayer(stage, 'minimap', picture.canvas, frame)
  element.hidden = true
  const image = new ImageData(COLS, ROWS)
  let drawn: Wall | undefined

  const draw = (state: State) => {
    const wall = selectShownWall(state)
    if (wall === undefined || wall === drawn) return
    const blocks = drawn?.texture === wall.texture ? (wall.changed ?? ALL_BLOCKS) : ALL_BLOCKS
    drawn = wall
    drawBlocks(image, wall.texture, blocks, createColourTable(page.appearance.getTheme()))
    picture.putImage(image)
  }
  const goToPointer = (event: PointerEvent) => {
    if (event.buttons === 0) return
    const on = { x: (event.offsetX / element.clientWidth) * WIDTH, y: (event.offsetY / element.clientHeight) * HEIGHT }
    page.dispatch({ do: 'centre', on })
  }
  element.addEventListener('pointerdown', (event) => {
    element.setPointerCapture(event.pointerId)
    goToPointer(event)
  })
  element.addEventListener('pointermove', goToPointer)

  return {
    update(next) {
      if (!element.hidden) draw(next)
      else if (selectShownWall(next) !== drawn) drawn = undefined
    },
    restyle(state) {
      drawn = undefined
      if (!element.hidden) draw(state)
    },
    onDraw(state) {
      const { camera, view, isMoved } = state
      element.hidden = !isMoved || chooseLabelShape(view) === 'sheet' || camera.zoom < fitWall(view).zoom * SHOWN_FROM
      if (element.hidden) return
      draw(state)
      const first = toWall(camera, view, { x: 0, y: 0 })
      const last = toWall(camera, view, { x: view.width, y: view.height })
      const formatPercent = (value: number, whole: number) => `${Math.max(0, Math.min(value / whole, 1)) * 100}%`
      frame.style.left = formatPercent(first.x, WIDTH)
      frame.style.top = formatPercent(first.y, HEIGHT)
      frame.style.right = formatPercent(WIDTH - last.x, WIDTH)
      frame.style.bottom = formatPercent(HEIGHT - last.y, HEIGHT)
    },
  }
}

/** Draws one pixel for each block: its mean colour, computed from squared values, which approximate linear light. */
function drawBlocks(image: ImageData, texture: IndexTexture, blocks: readonly BlockIndex[], colours: Uint8Array) {
  for (const block of blocks) {
    const { col, row } = getCell(block)
    const sum = [0, 0, 0]
    for (let y = 0; y < BLOCK_SIZE; y++) {
      const start = (row * BLOCK_SIZE + y) * WIDTH + col * BLOCK_SIZE
      for (let at = start; at < start + BLOCK_SIZE; at++) {
        const from = (texture[at] ?? 0) * BYTES_A_PIXEL
        for (let part = 0; part < 3; part++) sum[part] = (sum[part] ?? 0) + (colours[from + part] ?? 0) ** 2
      }
    }
    const pixel = [...sum.map((squares) => Math.sqrt(squares / BLOCK_SIZE ** 2)), OPAQUE]
    image.data.set(pixel, block * BYTES_A_PIXEL)
  }
}
