/** Pointer, wheel and keys on the preview: a drag that begins on the picture moves the picture, any other moves the wall. */

import { BLOCK_SIZE, type Cell } from '../../shared/wall.ts'
import { pan, toWall, zoom, type Camera, type Point, type View } from '../camera/camera.ts'
import { listenToPointers, listenToWheel, listenToZoomButtons } from '../camera/input.ts'
import { intentOf } from '../camera/keys.ts'
import type { Intent } from '../state.ts'
import type { Sketch } from './sketch.ts'

/** What pointer, wheel and keys control. */
export type PreviewControls = {
  sketch(): Sketch
  camera(): Camera
  view(): View
  /** Moves the wall under the picture. */
  turn(camera: Camera): void
  /** Moves the picture over the wall. */
  move(at: Cell): void
  fit(): void
  lookAtPicture(): void
}

/** Listens until `signal` aborts. */
export function listenToInput(canvas: HTMLCanvasElement, controls: PreviewControls, signal: AbortSignal) {
  let held: Point | undefined // the corner of the picture that is being dragged, in wall pixels
  let fingers = 0

  // Registered before the common listener, which reports how far a drag goes but not where it began.
  canvas.addEventListener(
    'pointerdown',
    ({ offsetX: x, offsetY: y }) => {
      fingers++
      held = fingers === 1 && isOnPicture(controls, { x, y }) ? cornerOf(controls.sketch().at) : undefined
    },
    { signal },
  )
  for (const kind of ['pointerup', 'pointercancel'] as const)
    canvas.addEventListener(kind, () => (fingers = Math.max(0, fingers - 1)), { signal })

  const send = (intent: Intent) => {
    if (intent.do === 'zoom') {
      // The wheel and a pinch end a drag; keys and buttons, which zoom about the middle, do not.
      if (intent.at !== undefined) held = undefined
      zoomBy(controls, intent.factor, intent.at)
    } else if (intent.do === 'pan') {
      if (held === undefined) return controls.turn(pan(controls.camera(), controls.view(), intent.dx, intent.dy))
      const scale = controls.camera().zoom
      held = { x: held.x + intent.dx / scale, y: held.y + intent.dy / scale }
      controls.move({ col: Math.round(held.x / BLOCK_SIZE), row: Math.round(held.y / BLOCK_SIZE) })
    } else if (intent.do === 'walk') {
      const { col, row } = controls.sketch().at
      controls.move({ col: col + intent.right, row: row + intent.down })
    } else if (intent.do === 'tap') controls.move(centredAt(controls, intent.at))
    else if (intent.do === 'pin') controls.lookAtPicture()
    else if (intent.do === 'fit') controls.fit()
  }
  listenToPointers(canvas, send, signal)
  listenToWheel(canvas, send, signal)
  listenToZoomButtons(send)
  canvas.addEventListener('keydown', (event) => onKey(event, send), { signal })
}

const cornerOf = ({ col, row }: Cell): Point => ({ x: col * BLOCK_SIZE, y: row * BLOCK_SIZE })

function isOnPicture({ sketch, camera, view }: PreviewControls, at: Point): boolean {
  const { picture, at: corner, size } = sketch()
  const cell = cellAt(toWall(camera(), view(), at))
  const [dx, dy] = [cell.col - corner.col, cell.row - corner.row]
  return picture !== undefined && dx >= 0 && dy >= 0 && dx < size.w && dy < size.h
}

const cellAt = ({ x, y }: Point): Cell => ({ col: Math.floor(x / BLOCK_SIZE), row: Math.floor(y / BLOCK_SIZE) })

/** Where the picture lies when its middle is at a point of the stage. */
function centredAt({ sketch, camera, view }: PreviewControls, at: Point): Cell {
  const { col, row } = cellAt(toWall(camera(), view(), at))
  const { w, h } = sketch().size
  return { col: col - (w >> 1), row: row - (h >> 1) }
}

function zoomBy(controls: PreviewControls, factor: number, at?: Point) {
  const view = controls.view()
  controls.turn(zoom(controls.camera(), view, factor, at ?? { x: view.width / 2, y: view.height / 2 }))
}

// What keys do here: arrows move the picture, Enter looks at it.
const KEY_INTENTS: readonly Intent['do'][] = ['walk', 'zoom', 'fit', 'pin']

function onKey(event: KeyboardEvent, send: (intent: Intent) => void) {
  const { key, code, shiftKey, ctrlKey, metaKey, altKey } = event
  if (ctrlKey || metaKey || altKey || key === ' ') return
  const intent = intentOf({ key, code, shiftKey, onWall: true })
  if (intent === undefined || !KEY_INTENTS.includes(intent.do)) return
  send(intent)
  event.preventDefault()
}
