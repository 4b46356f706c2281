/** Pointer, wheel and keys on the preview: a drag that begins on the picture moves the picture, any other moves the wall. */

import { BLOCK_SIZE, type Cell } from '../../shared/wall.ts'
import { pan, toWall, zoom, type Camera, type Point, type View } from '../camera/camera.ts'
import { listenToPointers, listenToWheel } from '../camera/input.ts'
import type { Intent } from '../state.ts'
import { type Sketch } from './sketch.ts'

/** What they move. */
export type PreviewControls = {
  sketch(): Sketch
  camera(): Camera
  view(): View
  /** The wall is moved under the picture. */
  turn(camera: Camera): void
  /** The picture is moved over the wall. */
  move(at: Cell): void
  fit(): void
  look(): void
}

const ZOOM_STEP = 1.5
const LEAP_BLOCKS = 10

/** Listens until `signal` aborts. */
export function listenToInput(canvas: HTMLCanvasElement, controls: PreviewControls, signal: AbortSignal) {
  let held: Point | undefined // where the picture's corner is under a hand, in wall pixels
  let fingers = 0

  // Before the common listener, which tells how far a hand goes but not where it began.
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
      held = undefined
      zoomBy(controls, intent.factor, intent.at)
    } else if (intent.do === 'pan') {
      if (held === undefined) return controls.turn(pan(controls.camera(), controls.view(), intent.dx, intent.dy))
      const scale = controls.camera().zoom
      held = { x: held.x + intent.dx / scale, y: held.y + intent.dy / scale }
      controls.move({ col: Math.round(held.x / BLOCK_SIZE), row: Math.round(held.y / BLOCK_SIZE) })
    } else if (intent.do === 'tap') controls.move(centredAt(controls, intent.at))
  }
  listenToPointers(canvas, send, signal)
  listenToWheel(canvas, send, signal)
  canvas.addEventListener('keydown', (event) => onKey(event, controls), { signal })
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

const arrows: Readonly<Record<string, readonly [right: number, down: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

function onKey(event: KeyboardEvent, controls: PreviewControls) {
  const { key, shiftKey, ctrlKey, metaKey, altKey } = event
  if (ctrlKey || metaKey || altKey) return
  const arrow = arrows[key]
  const { at } = controls.sketch()
  const blocks = shiftKey ? LEAP_BLOCKS : 1
  if (arrow) controls.move({ col: at.col + arrow[0] * blocks, row: at.row + arrow[1] * blocks })
  else if (key === '+' || key === '=') zoomBy(controls, ZOOM_STEP)
  else if (key === '-') zoomBy(controls, 1 / ZOOM_STEP)
  else if (key === '0') controls.fit()
  else if (key === 'Enter') controls.look()
  else return
  event.preventDefault()
}

/** Buttons that zoom. */
export function listenToZoomButtons(zoomIn: HTMLElement, zoomOut: HTMLElement, controls: PreviewControls) {
  zoomIn.addEventListener('click', () => zoomBy(controls, ZOOM_STEP))
  zoomOut.addEventListener('click', () => zoomBy(controls, 1 / ZOOM_STEP))
}
