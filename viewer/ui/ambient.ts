/** The light around the wall: a glow of its colours in the dark theme, and its shadow in the light theme. */

import { WHOLE_WALL, projectRect } from '../camera/camera.ts'
import type { Component } from '../page.ts'
import { LIGHT_HEIGHT, LIGHT_WIDTH, computeRoomLight } from '../wall/room-light.ts'
import type { Wall } from '../wall/wall-model.ts'
import { addLayer, createElement, createPicture, placeElement } from './dom.ts'

// The light follows the wall after this delay, so that urgent work comes first, and many changes cause one update.
const AFTER_MS = 400

/** A small picture of the light, which the browser enlarges and moves. */
export function createAmbient(stage: HTMLElement): Component {
  const light = createPicture(LIGHT_WIDTH, LIGHT_HEIGHT)
  const element = createElement('div', light.canvas)
  addLayer(stage, 'ambient', element)
  let latest: Wall | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const drawLight = () => {
    timer = undefined
    if (latest) light.putImage(new ImageData(computeRoomLight(latest), LIGHT_WIDTH, LIGHT_HEIGHT))
  }
  return {
    update({ wall }, { wall: before }) {
      if (!wall?.complete || wall === before) return
      latest = wall
      timer ??= setTimeout(drawLight, AFTER_MS)
    },
    onDraw({ camera, view }) {
      const box = projectRect(camera, view, WHOLE_WALL)
      const { left, top, width, height } = box
      element.hidden = left < 0 && top < 0 && left + width > view.width && top + height > view.height
      placeElement(element, box)
    },
  }
}
