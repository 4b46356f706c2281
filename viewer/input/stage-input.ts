/** Turns pointer, wheel and keyboard input into actions. */

import type { Point } from '../camera/camera.ts'
import { computeThrowSpeed, type Moment } from '../camera/motion.ts'
import type { Action } from '../state.ts'
import { queryElement } from '../ui/dom.ts'
import { findAction, ZOOM_STEP } from './keys.ts'

// A press that moves less than this many CSS pixels is a tap.
const TAP_SLOP = 5

// A second tap within this time and distance is a double tap.
const DOUBLE_TAP_MS = 250
const DOUBLE_TAP_PX = 30
const DOUBLE_TAP_ZOOM = 2.5

// One notch of a wheel is about 100 pixels; a trackpad pinch arrives as wheel events with the ctrl flag and far smaller
// numbers.
const WHEEL_RATE = 0.002
const TRACKPAD_PINCH_RATE = 0.01
const WHEEL_LINE_PX = 16

type Dispatch = (action: Action) => void

/** Listens to pointers, wheel and focus on a stage, and to keys on the whole window. */
export function listenToStage(stage: HTMLElement, dispatch: Dispatch) {
  listenToPointers(stage, dispatch)
  listenToWheel(stage, dispatch)
  window.addEventListener('keydown', (event) => {
    const action = findKeyAction(event, stage)
    if (action === undefined) return
    event.preventDefault()
    dispatch(action)
  })
  stage.addEventListener('focus', () => stage.matches(':focus-visible') && dispatch({ do: 'walk', right: 0, down: 0 }))
  stage.addEventListener('blur', () => dispatch({ do: 'leave' }))
}

/**
 * The action of a pressed key; `undefined` for the browser's shortcuts and, while the user types in a field, for every
 * key but Escape.
 */
export function findKeyAction(event: KeyboardEvent, stage: HTMLElement): Action | undefined {
  const { key, code, shiftKey, ctrlKey, metaKey, altKey, target } = event
  const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement
  if (ctrlKey || metaKey || altKey || (isTyping && key !== 'Escape')) return undefined
  return findAction({ key, code, shiftKey, onWall: target === stage })
}

/** Listens to the zoom buttons, which every page has. */
export function listenToZoomButtons(dispatch: Dispatch) {
  const actions = {
    'zoom-in': { do: 'zoom', factor: ZOOM_STEP },
    'zoom-out': { do: 'zoom', factor: 1 / ZOOM_STEP },
    fit: { do: 'fit' },
  } as const
  for (const [id, action] of Object.entries(actions))
    queryElement(id, HTMLElement).addEventListener('click', () => dispatch(action))
}

/** Listens to the wheel, and to pinches on a trackpad. */
export function listenToWheel(stage: HTMLElement, dispatch: Dispatch) {
  const onWheel = (event: WheelEvent) => {
    event.preventDefault()
    const px = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * WHEEL_LINE_PX : event.deltaY
    const at = toPoint(event)
    dispatch({ do: 'zoom', factor: Math.exp(-px * (event.ctrlKey ? TRACKPAD_PINCH_RATE : WHEEL_RATE)), at })
    dispatch({ do: 'point', at })
  }
  // The listener is not passive, because it must keep the page itself from scrolling or zooming.
  stage.addEventListener('wheel', onWheel, { passive: false })
}

/** Listens to mouse, pen and fingers. */
export function listenToPointers(stage: HTMLElement, dispatch: Dispatch) {
  const down = new Map<number, Point>()
  const trail: Moment[] = [] // the latest positions of the dragging pointer
  let press: Point | undefined // start of a press that may still be a tap
  let lastTap: Moment | undefined
  let heldTap: ReturnType<typeof setTimeout> | undefined // timer of a finger's tap, which may become a double tap

  const onDown = (event: PointerEvent) => {
    if (event.pointerType === 'mouse' && event.button !== 0) return
    // Removes the focus ring of a keyboard user from the stage; the press itself focuses the stage again.
    stage.blur()
    stage.setPointerCapture(event.pointerId)
    clearTimeout(heldTap)
    down.set(event.pointerId, toPoint(event))
    trail.length = 0
    press = down.size === 1 ? toPoint(event) : undefined
    dispatch({ do: 'hold', at: press })
  }

  const onMove = (event: PointerEvent) => {
    const at = toPoint(event)
    const before = down.get(event.pointerId)
    if (before === undefined) {
      if (event.pointerType !== 'touch') dispatch({ do: 'point', at })
      return
    }
    if (press && measureDistance(press, at) < TAP_SLOP) return
    if (press) dispatch({ do: 'point', at: undefined })
    press = undefined
    for (const action of readDrag(down, event.pointerId, before, at)) dispatch(action)
    down.set(event.pointerId, at)
    trail.push({ ...at, time: event.timeStamp })
  }

  const onUp = (event: PointerEvent) => {
    if (!down.delete(event.pointerId)) return
    const tapped = press
    press = undefined
    if (event.type !== 'pointerup') return
    if (tapped === undefined) {
      const speed = down.size === 0 ? computeThrowSpeed(trail, event.timeStamp) : undefined
      if (speed) dispatch({ do: 'throw', ...speed })
      return
    }
    const tap = { ...tapped, time: event.timeStamp }
    const twice = lastTap && tap.time - lastTap.time < DOUBLE_TAP_MS && measureDistance(tap, lastTap) < DOUBLE_TAP_PX
    lastTap = twice ? undefined : tap
    const byFinger = event.pointerType === 'touch'
    if (twice) {
      // The first of the two clicks has opened details that the user did not want.
      if (!byFinger) dispatch({ do: 'unpin' })
      dispatch({ do: 'zoom', factor: DOUBLE_TAP_ZOOM, at: tapped })
    } else if (byFinger) heldTap = setTimeout(() => dispatch({ do: 'tap', at: tapped, byFinger }), DOUBLE_TAP_MS)
    else dispatch({ do: 'tap', at: tapped })
  }

  // Without this listener, the browser would send a click after a tap to any element that the tap has brought under the
  // finger.
  stage.addEventListener('touchend', (event) => event.cancelable && event.preventDefault(), { passive: false })
  stage.addEventListener('pointerdown', onDown)
  stage.addEventListener('pointermove', onMove)
  stage.addEventListener('pointerup', onUp)
  stage.addEventListener('pointercancel', onUp)
  stage.addEventListener('pointerleave', () => dispatch({ do: 'point', at: undefined }))
}

/** One finger drags the wall; with two fingers, the wall follows their midpoint and distance. */
function readDrag(down: ReadonlyMap<number, Point>, id: number, before: Point, at: Point): Action[] {
  const other = [...down].find(([key]) => key !== id)?.[1]
  if (other === undefined) return [{ do: 'pan', dx: at.x - before.x, dy: at.y - before.y }]
  const spread = measureDistance(other, before)
  const factor = spread > 0 ? measureDistance(other, at) / spread : 1
  // Zooms first, because a wall shown whole cannot be moved.
  return [
    { do: 'zoom', factor, at: { x: (before.x + other.x) / 2, y: (before.y + other.y) / 2 } },
    { do: 'pan', dx: (at.x - before.x) / 2, dy: (at.y - before.y) / 2 },
  ]
}

const toPoint = (event: MouseEvent): Point => ({ x: event.offsetX, y: event.offsetY })

const measureDistance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y)
