/** Everything the page shows follows from this state; every intent of its user is one step from a state to the next. */

import { COLS, ROWS, blockAt, cellOf, type BlockIndex } from '../shared/wall.ts'
import { clamp, fit, isFitted, lookAt, pan, reveal, zoom, type Camera, type Point, type View } from './camera/camera.ts'
import { blockUnder } from './camera/hover.ts'
import { advance, type Motion } from './camera/motion.ts'
import { areaOf, blocksOf } from './wall/artworks.ts'
import type { Look, Overlay } from './wall/overlay.ts'
import { pastAt, type History, type Past } from './wall/wall-history.ts'
import type { Wall } from './wall/wall-model.ts'

export type State = Look & {
  readonly view: View
  readonly camera: Camera
  readonly motion: Motion | undefined // what moves the camera by itself
  readonly calm: boolean // whether the page must not move by itself
  readonly wall: Wall | undefined // until the first canvas read has begun to arrive
  readonly history: History | undefined // from when the past is first looked at
  readonly past: Past | undefined // what the wall showed at the moment `at`, once the history is known
  readonly pointer: Point | undefined // where it hovers over the stage
  readonly cursor: BlockIndex | undefined // moved by keys
  readonly pinned: BlockIndex | undefined // chosen by a tap; its card stays
  readonly panel: Panel | undefined // the one that is open
}

export type Panel = 'find' | 'view' | 'time' | 'share' | 'help'

/** What a user can want. `at` is a point of the stage; without one, its middle is meant. */
export type Intent =
  | { readonly do: 'pan'; readonly dx: number; readonly dy: number }
  | { readonly do: 'throw'; readonly vx: number; readonly vy: number } // CSS pixels per millisecond
  | { readonly do: 'hold' } // a hand on the wall stops it
  | { readonly do: 'tick'; readonly ms: number }
  | { readonly do: 'zoom'; readonly factor: number; readonly at?: Point }
  | { readonly do: 'fit' }
  | { readonly do: 'point'; readonly at: Point | undefined }
  | { readonly do: 'tap'; readonly at: Point }
  | { readonly do: 'walk'; readonly right: number; readonly down: number } // blocks
  | { readonly do: 'leave' } // the keys' cursor goes
  | { readonly do: 'pin' } // what is shown
  | { readonly do: 'go'; readonly to: BlockIndex }
  | { readonly do: 'centre'; readonly on: Point } // a point of the wall
  | { readonly do: 'choose'; readonly agent: number | undefined }
  | { readonly do: 'lay'; readonly overlay: Overlay }
  | { readonly do: 'travel'; readonly at: number | undefined }
  | { readonly do: 'remember'; readonly history: History }
  | { readonly do: 'open'; readonly panel: Panel } // or close it, when it is open
  | { readonly do: 'dismiss' }

// A block that is gone to is at least this large, in CSS pixels per wall pixel; an agent's blocks at most.
const BLOCK_ZOOM = 6
const AGENT_ZOOM = 10

/** A page that has just been opened. */
export function begin(view: View, calm = false): State {
  return {
    view,
    camera: fit(view),
    motion: undefined,
    calm,
    wall: undefined,
    history: undefined,
    past: undefined,
    pointer: undefined,
    cursor: undefined,
    pinned: undefined,
    overlay: 'none',
    agent: undefined,
    at: undefined,
    panel: undefined,
  }
}

/** The state after an intent. */
export function step(state: State, intent: Intent): State {
  const { view, camera } = state
  switch (intent.do) {
    case 'pan':
      return moved(state, pan(camera, view, intent.dx, intent.dy))
    case 'throw':
      return state.calm ? state : { ...state, motion: { kind: 'glide', vx: intent.vx, vy: intent.vy } }
    case 'hold':
      return state.motion ? { ...state, motion: undefined } : state
    case 'tick':
      return state.motion ? { ...state, ...advance(camera, view, state.motion, intent.ms) } : state
    case 'zoom':
      return moved(state, zoom(camera, view, intent.factor, intent.at ?? middleOf(view)))
    case 'fit':
      return flown(state, fit(view))
    case 'point':
      return { ...state, pointer: intent.at, cursor: intent.at ? undefined : state.cursor }
    case 'tap':
      return { ...state, pinned: toggled(state.pinned, blockUnder(camera, view, intent.at)) }
    case 'walk':
      return walked(state, intent.right, intent.down)
    case 'leave':
      return { ...state, cursor: undefined }
    case 'pin':
      return { ...state, pinned: toggled(state.pinned, shownBlock(state)) }
    case 'go':
      return flown({ ...state, pinned: intent.to, pointer: undefined }, closeTo(state, intent.to))
    case 'centre':
      return moved(state, clamp({ ...intent.on, zoom: camera.zoom }, view))
    case 'choose':
      return chosen(state, intent.agent)
    case 'lay':
      return { ...state, overlay: intent.overlay }
    case 'travel':
      return travelled(state, intent.at)
    case 'remember':
      return travelled({ ...state, history: intent.history }, state.at)
    case 'open':
      return { ...state, panel: state.panel === intent.panel ? undefined : intent.panel }
    case 'dismiss':
      return dismissed(state)
  }
}

/** The state in a stage of another size: a wall shown whole stays whole. */
export function resize(state: State, view: View): State {
  const camera = isFitted(state.camera, state.view) ? fit(view) : clamp(state.camera, view)
  return { ...state, view, camera }
}

/** The block whose card is shown: the pinned one, the keys', or else what is under the pointer now, wherever the wall has moved. */
export function shownBlock({ wall, pinned, cursor, pointer, camera, view }: State): BlockIndex | undefined {
  if (wall === undefined) return undefined
  return pinned ?? cursor ?? (pointer && blockUnder(camera, view, pointer))
}

/** The state at a moment in Unix milliseconds; at the present when undefined. */
export function travelled(state: State, at: number | undefined): State {
  const { wall, history } = state
  const isPast = wall !== undefined && history !== undefined && at !== undefined
  return { ...state, at, past: isPast ? pastAt(wall, history, at, state.past) : undefined }
}

/** The wall as it is drawn: of the moment that is shown, as far as that is known. */
export const shownWall = ({ past, wall }: State): Wall | undefined => past?.wall ?? wall

const moved = (state: State, camera: Camera): State => ({ ...state, camera, motion: undefined })

const flown = (state: State, to: Camera): State =>
  state.calm ? moved(state, clamp(to, state.view)) : { ...state, motion: { kind: 'flight', to } }

/** A first key shows the cursor where its user looks; each further one moves it, and the wall with it. */
function walked(state: State, right: number, down: number): State {
  const { camera, view } = state
  const from = state.cursor
  const cursor =
    from === undefined ? (shownBlock(state) ?? blockUnder(camera, view, middleOf(view))) : beside(from, right, down)
  if (cursor === undefined) return state
  const shown = reveal(camera, view, areaOf([cursor]))
  return { ...state, cursor, pointer: undefined, pinned: undefined, camera: shown, motion: undefined }
}

function beside(from: BlockIndex, right: number, down: number): BlockIndex | undefined {
  const { col, row } = cellOf(from)
  const within = (value: number, count: number) => Math.max(0, Math.min(value, count - 1))
  return blockAt(within(col + right, COLS), within(row + down, ROWS))
}

/** One Escape takes one layer away: the panel, the card, the chosen agent, the moment, the colours. */
function dismissed(state: State): State {
  if (state.panel !== undefined) return { ...state, panel: undefined }
  if (state.pinned !== undefined) return { ...state, pinned: undefined, pointer: undefined }
  if (state.agent !== undefined) return { ...state, agent: undefined }
  if (state.at !== undefined) return travelled(state, undefined)
  return { ...state, overlay: 'none', pointer: undefined, cursor: undefined }
}

function chosen(state: State, agent: number | undefined): State {
  const next = { ...state, agent, pinned: undefined }
  if (agent === undefined || state.wall === undefined) return next
  return flown(next, lookAt(areaOf(blocksOf(state.wall, agent)), state.view, AGENT_ZOOM))
}

function closeTo({ camera, view }: State, block: BlockIndex): Camera {
  const area = areaOf([block])
  return { ...lookAt(area, view, camera.zoom), zoom: Math.max(camera.zoom, BLOCK_ZOOM) }
}

const middleOf = (view: View): Point => ({ x: view.width / 2, y: view.height / 2 })

const toggled = (pinned: BlockIndex | undefined, tapped: BlockIndex | undefined) =>
  tapped === pinned ? undefined : tapped
