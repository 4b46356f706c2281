/**
 * Pointer, wheel and key input on the preview: a drag that begins on the picture moves the picture, and any other drag
 * moves the wall.
 */

import { BLOCK_SIZE, type Cell } from '../../shared/wall.ts'
import { fitWall, pan, toWall, zoom, type Camera, type Point, type View } from '../camera/camera.ts'
import { findKeyAction, listenToPointers, listenToWheel, listenToZoomButtons } from '../input/stage-input.ts'
import type { Action } from '../state.ts'
import type { Studio } from './sketch.ts'

/** The values that input on the preview depends on, and the functions that it calls. */
export type PreviewControls = Pick<Studio, 'getSketch' | 'lookAtPicture'> & {
  getCamera(): Camera
  getView(): View
  /** Moves the wall under the picture. */
  moveCamera(camera: Camera): void
  /** Moves the picture over the wall. */
  movePicture(at: Cell): void
}

/** Listens to pointer, wheel and keys on the preview's canvas, and to the zoom buttons. */
export function listenToInput(canvas: HTMLCanvasElement, controls: PreviewControls) {
  let held: Point | undefined // the picture's top left corner while it is dragged, in wall pixels
  const dispatch = (action: Action) => {
    const [camera, view] = [controls.getCamera(), controls.getView()]
    if (action.do === 'hold')
      held = action.at && isOnPicture(controls, action.at) ? computeCorner(controls.getSketch().at) : undefined
    else if (action.do === 'zoom') {
      // The wheel and a pinch end a drag; keys and buttons, which zoom about the middle, do not.
      if (action.at !== undefined) held = undefined
      controls.moveCamera(zoom(camera, view, action.factor, action.at ?? { x: view.width / 2, y: view.height / 2 }))
    } else if (action.do === 'pan') {
      if (held === undefined) return controls.moveCamera(pan(camera, view, action.dx, action.dy))
      held = { x: held.x + action.dx / camera.zoom, y: held.y + action.dy / camera.zoom }
      controls.movePicture({ col: Math.round(held.x / BLOCK_SIZE), row: Math.round(held.y / BLOCK_SIZE) })
    } else if (action.do === 'walk') {
      const { col, row } = controls.getSketch().at
      controls.movePicture({ col: col + action.right, row: row + action.down })
    } else if (action.do === 'tap') controls.movePicture(computeCentredPosition(controls, action.at))
    else if (action.do === 'pin') controls.lookAtPicture()
    else if (action.do === 'fit') controls.moveCamera(fitWall(view))
  }
  listenToPointers(canvas, dispatch)
  listenToWheel(canvas, dispatch)
  listenToZoomButtons(dispatch)
  canvas.addEventListener('keydown', (event) => {
    const action = findKeyAction(event, canvas)
    if (action === undefined || !KEY_ACTIONS.includes(action.do) || event.key === ' ') return
    dispatch(action)
    event.preventDefault()
  })
}

const computeCorner = ({ col, row }: Cell): Point => ({ x: col * BLOCK_SIZE, y: row * BLOCK_SIZE })

function isOnPicture({ getSketch, getCamera, getView }: PreviewControls, at: Point): boolean {
  const { picture, at: corner, size } = getSketch()
  const cell = findCell(toWall(getCamera(), getView(), at))
  const [dx, dy] = [cell.col - corner.col, cell.row - corner.row]
  return picture !== undefined && dx >= 0 && dy >= 0 && dx < size.w && dy < size.h
}

const findCell = ({ x, y }: Point): Cell => ({ col: Math.floor(x / BLOCK_SIZE), row: Math.floor(y / BLOCK_SIZE) })

/** The position of the picture if its middle is at a point on the stage. */
function computeCentredPosition({ getSketch, getCamera, getView }: PreviewControls, at: Point): Cell {
  const { col, row } = findCell(toWall(getCamera(), getView(), at))
  const { w, h } = getSketch().size
  return { col: col - (w >> 1), row: row - (h >> 1) }
}

// The actions of keys on this page: arrows move the picture, Enter zooms to it, and other keys zoom the wall.
const KEY_ACTIONS: readonly Action['do'][] = ['walk', 'zoom', 'fit', 'pin']
