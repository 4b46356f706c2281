/** Shows a pulse around each artwork that was just sold or repainted. */

import { groupIntoWorks } from '../../shared/works.ts'
import { type Rect, projectRect } from '../camera/camera.ts'
import type { Component } from '../page.ts'
import { computeBounds } from '../wall/artworks.ts'
import { addLayer, createElement, placeElement } from './dom.ts'

// More simultaneous changes than this come from a new read of the wall, not from a purchase.
const BLOCKS_MAX = 400
const PULSES_MAX = 24

/** Adds a pulse for each group of adjacent blocks that change together. */
export function createPulses(stage: HTMLElement): Component {
  const layer = addLayer(stage, 'pulses')
  const pulses = new Map<HTMLElement, Rect>()

  // An artwork may arrive in parts, so a block next to a running pulse enlarges that pulse.
  const addPulse = (area: Rect) => {
    for (const [element, other] of pulses)
      if (areTouching(area, other)) return void pulses.set(element, uniteRects(area, other))
    const element = createElement('div.pulse')
    element.addEventListener('animationend', () => {
      pulses.delete(element)
      element.remove()
    })
    pulses.set(element, area)
    layer.append(element)
  }
  return {
    update({ wall, at, reducedMotion }, { wall: before }) {
      if (reducedMotion || at !== undefined || wall === before || !wall?.complete || !before?.complete) return
      const { changed } = wall
      if (changed === undefined || changed.length > BLOCKS_MAX) return
      for (const work of groupIntoWorks(changed).slice(0, PULSES_MAX - pulses.size)) addPulse(computeBounds(work))
    },
    onDraw({ camera, view }) {
      for (const [element, area] of pulses) placeElement(element, projectRect(camera, view, area))
    },
  }
}

const areTouching = (a: Rect, b: Rect) =>
  a.left <= b.right && b.left <= a.right && a.top <= b.bottom && b.top <= a.bottom

const uniteRects = (a: Rect, b: Rect): Rect => ({
  left: Math.min(a.left, b.left),
  top: Math.min(a.top, b.top),
  right: Math.max(a.right, b.right),
  bottom: Math.max(a.bottom, b.bottom),
})
