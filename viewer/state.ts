/** Everything the page shows follows from this state; every intent of its user is one step from a state to the next. */

import type { BlockIndex } from '../shared/wall.ts'
import { clamp, fit, isFitted, pan, zoom, type Camera, type Point, type View } from './camera.ts'
import { blockUnder } from './hover.ts'
import type { Wall } from './plot.ts'

export type State = {
  readonly view: View
  readonly camera: Camera
  readonly wall: Wall | undefined // until the first canvas read has arrived
  readonly pointer: Point | undefined // where it hovers over the stage
  readonly pinned: BlockIndex | undefined // chosen by a tap; its card stays
}

/** What a user can want. `at` is a point of the stage; without one, its middle is meant. */
export type Intent =
  | { readonly do: 'pan'; readonly dx: number; readonly dy: number }
  | { readonly do: 'zoom'; readonly factor: number; readonly at?: Point }
  | { readonly do: 'fit' }
  | { readonly do: 'point'; readonly at: Point | undefined }
  | { readonly do: 'tap'; readonly at: Point }
  | { readonly do: 'dismiss' }

/** A page that has just been opened. */
export function begin(view: View): State {
  return { view, camera: fit(view), wall: undefined, pointer: undefined, pinned: undefined }
}

/** The state after an intent. */
export function step(state: State, intent: Intent): State {
  const { view, camera } = state
  switch (intent.do) {
    case 'pan':
      return { ...state, camera: pan(camera, view, intent.dx, intent.dy) }
    case 'zoom':
      return { ...state, camera: zoom(camera, view, intent.factor, intent.at ?? middleOf(view)) }
    case 'fit':
      return { ...state, camera: fit(view) }
    case 'point':
      return { ...state, pointer: intent.at }
    case 'tap':
      return { ...state, pinned: toggled(state.pinned, blockUnder(camera, view, intent.at)) }
    case 'dismiss':
      return { ...state, pinned: undefined, pointer: undefined }
  }
}

/** The state in a stage of another size: a wall shown whole stays whole. */
export function resize(state: State, view: View): State {
  const camera = isFitted(state.camera, state.view) ? fit(view) : clamp(state.camera, view)
  return { ...state, view, camera }
}

/** The block whose card is shown: the pinned one, or else what is under the pointer now, wherever the wall has moved. */
export function shownBlock({ wall, pinned, pointer, camera, view }: State): BlockIndex | undefined {
  if (wall === undefined) return undefined
  return pinned ?? (pointer && blockUnder(camera, view, pointer))
}

const middleOf = (view: View): Point => ({ x: view.width / 2, y: view.height / 2 })

const toggled = (pinned: BlockIndex | undefined, tapped: BlockIndex | undefined) =>
  tapped === pinned ? undefined : tapped
