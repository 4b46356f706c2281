/** Everything on the page follows from this state; every action of the user is a step from one state to the next. */

import { BLOCK_SIZE, type BlockIndex, COLS, ROWS, getBlockAt, getCell } from '../shared/wall.ts'
import type { Work } from '../shared/works.ts'
import type { Camera, Point, Rect, View } from './camera/camera.ts'
import {
  findBlock,
  clampCamera,
  fitWall,
  isFitted,
  lookAt,
  pan,
  moveIntoView,
  toWall,
  computeUprightZoom,
  zoom,
} from './camera/camera.ts'
import { fitsBesideDetails, chooseLabelShape, lookBeside, computeStage } from './camera/label-layout.ts'
import { type Motion, advanceMotion } from './camera/motion.ts'
import { findArtwork, listBlocks, computeBounds, findWork } from './wall/artworks.ts'
import type { Missed } from './wall/news.ts'
import type { Overlay, OverlayState } from './wall/overlay.ts'
import { type History, type Past, rebuildPast } from './wall/wall-history.ts'
import type { Wall } from './wall/wall-model.ts'

export type State = OverlayState & {
  readonly view: View
  readonly camera: Camera
  readonly sold?: Rect | undefined // the area that contained nearly all sold blocks when the page was opened
  readonly initialCamera: Camera // the first camera, which shows the area `sold` with its surroundings
  readonly motion?: Motion | undefined // a glide or flight of the camera
  readonly reducedMotion: boolean // whether the user prefers no animated motion
  readonly wall?: Wall | undefined // undefined until the first canvas read has begun to arrive
  readonly history?: History | undefined // undefined until the history has been read
  readonly past?: Past | undefined // the wall at the moment `at`, once the history is known
  readonly pointer?: Point | undefined // the pointer's position on the stage
  readonly cursor?: BlockIndex | undefined // the block of the keyboard cursor
  readonly pinned?: BlockIndex | undefined // the selected block; its card stays open
  readonly panel?: Panel | undefined // the open panel
  readonly isMoved: boolean // whether the wall has been moved since the page opened
  readonly missed?: Missed | undefined // the changes since the visitor's last visit
  /** The stops of the tour through the news; each is a block of the work to show. */
  readonly stops?: readonly BlockIndex[] | undefined
  /** The block that the prompt for an agent suggests; the next open block if undefined. */
  readonly promptBlock?: BlockIndex | undefined
}

export const PANELS = ['find', 'view', 'time', 'tour', 'share', 'about', 'agent', 'profile'] as const
export type Panel = (typeof PANELS)[number]

/**
 * The actions of a user. A point `at` is a position on the stage; a zoom without it keeps the middle of the stage in
 * place.
 */
export type Action =
  | { readonly do: 'pan'; readonly dx: number; readonly dy: number }
  | { readonly do: 'throw'; readonly vx: number; readonly vy: number } // CSS pixels per millisecond
  | { readonly do: 'hold'; readonly at?: Point | undefined } // a press, which stops the wall's motion; `at` is undefined for a second finger
  | { readonly do: 'tick'; readonly ms: number }
  | { readonly do: 'zoom'; readonly factor: number; readonly at?: Point }
  | { readonly do: 'fit' }
  | { readonly do: 'point'; readonly at: Point | undefined }
  | { readonly do: 'tap'; readonly at: Point; readonly byFinger?: boolean }
  | { readonly do: 'walk'; readonly right: number; readonly down: number } // blocks
  | { readonly do: 'leave' } // the wall loses the focus, and its cursor disappears
  | { readonly do: 'pin' } // opens the details of the shown block, or closes them if they are open
  | { readonly do: 'go'; readonly to: BlockIndex }
  | { readonly do: 'centre'; readonly on: Point } // a point of the wall
  | { readonly do: 'unpin' }
  | { readonly do: 'open-work'; readonly block: BlockIndex } // shows the details of the block's work
  | { readonly do: 'tour'; readonly stops: readonly BlockIndex[] }
  | { readonly do: 'turn'; readonly by: 1 | -1 } // to the next or previous stop of the tour
  | { readonly do: 'invite'; readonly block?: BlockIndex }
  | { readonly do: 'zoom-to-work'; readonly block: BlockIndex } // the work that the block is part of
  | { readonly do: 'select-agent'; readonly agent: number | undefined }
  | { readonly do: 'set-overlay'; readonly overlay: Overlay }
  | { readonly do: 'seek'; readonly at: number | undefined }
  | { readonly do: 'history-loaded'; readonly history: History }
  | { readonly do: 'open'; readonly panel: Panel } // opens the panel, or closes it if it is open
  | { readonly do: 'dismiss' }

// The minimum zoom on a selected block, and the maximum zoom on an agent's blocks, in CSS pixels per wall pixel.
const BLOCK_ZOOM = 6
const AGENT_ZOOM = 10

// The maximum zoom on a selected artwork, which otherwise fills its part of the stage.
const WORK_ZOOM = 16

// The maximum zoom of the first camera.
const OPENING_ZOOM = 6

// In CSS pixels: the size of the smallest block that a finger can hit, and the distance within which a tap on smaller
// blocks finds artworks.
const FINGER_PX = 12
const FINGER_REACH_PX = 16

/** The state of a page that has just been opened; `sold` is the area that contains nearly all sold blocks. */
export function createState(view: View, sold?: Rect, reducedMotion = false): State {
  const initialCamera = chooseOpeningCamera(sold, view)
  return { view, camera: initialCamera, sold, initialCamera, reducedMotion, overlay: 'none', isMoved: false }
}

/** The state after an action. Its camera is valid, or is moving to a valid position. */
export function reduceState(state: State, action: Action): State {
  const next = correctCamera(closeLostTour(applyAction(state, action)))
  return next.isMoved || isSameCamera(next.camera, state.camera) ? next : { ...next, isMoved: true }
}

/** Closes a tour once none of its stops is shown. */
const closeLostTour = (state: State): State =>
  state.panel === 'tour' && state.pinned === undefined ? { ...state, panel: undefined } : state

function applyAction(state: State, action: Action): State {
  const { camera } = state
  const view = getStage(state)
  switch (action.do) {
    case 'pan':
      return moveCamera(state, pan(camera, view, action.dx, action.dy))
    case 'throw':
      return state.reducedMotion ? state : { ...state, motion: { kind: 'glide', vx: action.vx, vy: action.vy } }
    case 'hold':
      return state.motion ? { ...state, motion: undefined } : state
    case 'tick':
      return state.motion ? { ...state, ...advanceMotion(camera, view, state.motion, action.ms) } : state
    case 'zoom':
      return moveCamera(state, zoom(camera, view, action.factor, action.at ?? computeMiddle(view)))
    case 'fit':
      return flyCamera(state, fitWall(view))
    case 'point':
      return { ...state, pointer: action.at, cursor: action.at ? undefined : state.cursor }
    case 'tap':
      return tapStage(state, action.at, action.byFinger === true)
    case 'walk':
      return walkCursor(state, action.right, action.down)
    case 'leave':
      return { ...state, cursor: undefined }
    case 'pin':
      return toggleDetails(state, findShownBlock(state))
    case 'go':
      return openDetails(state, action.to, Math.max(camera.zoom, BLOCK_ZOOM))
    case 'unpin':
      return { ...state, pinned: undefined }
    case 'open-work':
      return openWorkDetails(state, action.block)
    case 'tour':
      return goToStop({ ...seekMoment(state, undefined), stops: action.stops }, 0)
    case 'turn':
      return state.panel === 'tour' ? goToStop(state, findStop(state) + action.by) : state
    case 'invite':
      return { ...state, panel: 'agent', promptBlock: action.block }
    case 'zoom-to-work':
      return flyCamera(state, frameWork(state, action.block, Math.max(camera.zoom, WORK_ZOOM)))
    case 'centre':
      return moveCamera(state, clampCamera({ ...action.on, zoom: camera.zoom }, view))
    case 'select-agent':
      return selectAgent(state, action.agent)
    case 'set-overlay':
      return { ...state, overlay: action.overlay }
    case 'seek':
      return seekMoment(state, action.at)
    case 'history-loaded':
      return seekMoment({ ...state, history: action.history }, state.at)
    case 'open':
      return togglePanel(state, action.panel)
    case 'dismiss':
      return dismissTopLayer(state)
  }
}

/**
 * The state after the stage has changed its size: a wall shown whole stays whole, a wall that the user has not moved
 * gets the first camera for the new size, and an artwork stays next to its details.
 */
export function resizeStage(state: State, view: View): State {
  const initialCamera = chooseOpeningCamera(state.sold, view)
  const next = { ...state, view, initialCamera }
  if (state.motion === undefined && isSameCamera(state.camera, state.initialCamera))
    return { ...next, camera: initialCamera }
  const goal = state.motion?.kind === 'flight' ? state.motion.to : state.camera
  const to = computeGoal(state, next, goal)
  if (state.motion?.kind === 'flight') return { ...next, motion: { kind: 'flight', to } }
  return { ...next, camera: to }
}

/** The camera, or the target of its flight, after the stage has changed its size. */
function computeGoal(before: State, { view }: State, goal: Camera): Camera {
  const { pinned, agent, wall } = before
  if (pinned !== undefined && before.panel === 'tour') return lookAtStop({ ...before, view }, pinned)
  if (pinned !== undefined && fitsBesideDetails(goal, before.view, measureWork(before, pinned)))
    return lookBeside(measureWork(before, pinned), view, goal.zoom)
  if (before.motion !== undefined && agent !== undefined && wall !== undefined) return frameAgent(wall, agent, view)
  return isFitted(goal, before.view) ? fitWall(view) : clampCamera(goal, getStage({ ...before, view }))
}

/** The first camera: shows the sold blocks with their surroundings; on an upright stage, the wall fills the height. */
function chooseOpeningCamera(sold: Rect | undefined, view: View): Camera {
  if (sold === undefined) return fitWall(view)
  const look = lookAt(sold, view, OPENING_ZOOM)
  return clampCamera(
    { ...look, zoom: Math.max(look.zoom, view.height > view.width ? computeUprightZoom(view) : 0) },
    view,
  )
}

/** Whether two values differ in one of these fields. */
export const differsIn = <Value>(a: Value, b: Value, ...fields: readonly (keyof Value)[]): boolean =>
  fields.some((field) => a[field] !== b[field])

/** Whether two cameras are equal. */
export const isSameCamera = (a: Camera, b: Camera): boolean => !differsIn(a, b, 'x', 'y', 'zoom')

/** The block at the keyboard cursor, or else the block now under the pointer, even if the wall has moved. */
export function findPointedBlock({ wall, cursor, pointer, camera, view }: State): BlockIndex | undefined {
  if (wall === undefined) return undefined
  return cursor ?? (pointer && findBlock(camera, view, pointer))
}

/** The block that the page marks and describes: the block at the cursor or pointer, or else the pinned block. */
export const findShownBlock = (state: State): BlockIndex | undefined =>
  findPointedBlock(state) ?? (state.wall === undefined ? undefined : state.pinned)

/** The state that shows the wall at the moment `at` in Unix milliseconds, or the present wall if `at` is undefined. */
export function seekMoment(state: State, at: number | undefined): State {
  const { wall, history } = state
  const isPast = wall !== undefined && history !== undefined && at !== undefined
  return { ...state, at, past: isPast ? rebuildPast(wall, history, at, state.past) : undefined }
}

/** The wall to draw: at the shown moment if the history is known, or else the present wall. */
export const selectShownWall = ({ past, wall }: State): Wall | undefined => past?.wall ?? wall

const moveCamera = (state: State, camera: Camera): State => ({ ...state, camera, motion: undefined })

const flyCamera = (state: State, to: Camera): State =>
  state.reducedMotion
    ? moveCamera(state, clampCamera(to, getStage(state)))
    : { ...state, motion: { kind: 'flight', to } }

/** Whether the details are shown. The tour hides them; on a narrow stage, so does any panel except the history. */
export const isLabelShown = ({ wall, pinned, panel, view }: State): boolean =>
  wall !== undefined &&
  pinned !== undefined &&
  panel !== 'tour' &&
  (panel === undefined || panel === 'time' || chooseLabelShape(view) !== 'sheet')

/** The size of the stage; while a sheet with details is shown, `covered` is the height that the sheet covers. */
const getStage = (state: State): View => (isLabelShown(state) ? computeStage(state.view) : state.view)

/** If a resting camera is no longer valid, for example after a sheet has been closed, moves it to a valid position. */
function correctCamera(state: State): State {
  const allowed = clampCamera(state.camera, getStage(state))
  return state.motion !== undefined || isSameCamera(allowed, state.camera) ? state : flyCamera(state, allowed)
}

/**
 * The first press of an arrow key shows the cursor at the shown block, or else in the middle of the stage. Each further
 * press moves the cursor, and keeps it in view.
 */
function walkCursor(state: State, right: number, down: number): State {
  const { camera, view } = state
  const from = state.cursor
  const cursor =
    from === undefined
      ? (findShownBlock(state) ?? findBlock(camera, view, computeMiddle(view)))
      : findNeighbour(from, right, down)
  if (cursor === undefined) return state
  const shown = moveIntoView(camera, view, computeBounds([cursor]))
  return { ...state, cursor, pointer: undefined, pinned: undefined, camera: shown, motion: undefined }
}

function findNeighbour(from: BlockIndex, right: number, down: number): BlockIndex | undefined {
  const { col, row } = getCell(from)
  const clampIndex = (value: number, count: number) => Math.max(0, Math.min(value, count - 1))
  return getBlockAt(clampIndex(col + right, COLS), clampIndex(row + down, ROWS))
}

/**
 * One Escape or one step back closes the topmost layer: the panel, the details, the selected agent or the moment. If no
 * layer is open, Escape removes the overlay.
 */
function dismissTopLayer(state: State): State {
  if (state.panel !== undefined) return togglePanel(state, state.panel)
  if (state.pinned !== undefined) return { ...state, pinned: undefined, pointer: undefined }
  if (state.agent !== undefined) return { ...state, agent: undefined }
  if (state.at !== undefined) return seekMoment(state, undefined)
  return { ...state, overlay: 'none', pointer: undefined, cursor: undefined }
}

/** Opens a panel, or closes it if it is already open. When the tour closes, its block is no longer pinned. */
function togglePanel(state: State, panel: Panel): State {
  const { pinned, ...rest } = { ...state, panel: state.panel === panel ? undefined : panel, promptBlock: undefined }
  return state.panel === 'tour' ? rest : { ...rest, pinned }
}

/** The number of open layers over the wall, each of which one step back closes. */
export const countLayers = ({ panel, pinned, agent, at }: State): number =>
  [panel, panel === 'tour' ? undefined : pinned, agent, at].filter((layer) => layer !== undefined).length

function selectAgent(state: State, agent: number | undefined): State {
  const panel: Panel | undefined = agent !== undefined ? 'profile' : state.panel === 'profile' ? undefined : state.panel
  const next = { ...state, agent, pinned: undefined, panel }
  if (agent === undefined || state.wall === undefined) return next
  return flyCamera(next, frameAgent(state.wall, agent, state.view))
}

/** The camera that shows all blocks of an agent. */
export const frameAgent = (wall: Wall, agent: number, view: View): Camera =>
  lookAt(computeBounds(listBlocks(wall, agent)), view, AGENT_ZOOM)

/** The state with an artwork's details open; returns to the present if the shown moment is before its sale. */
function openWorkDetails(state: State, block: BlockIndex): State {
  const sold = state.wall?.claims.get(block)?.t ?? 0
  const seen = state.at !== undefined && sold > state.at ? seekMoment(state, undefined) : state
  return openDetails(seen, block, Math.max(state.camera.zoom, WORK_ZOOM))
}

/**
 * The state with a block's details open next to its whole artwork, at a zoom of at most `zoomMax` if possible. A
 * selected agent that does not own the block is deselected. On a narrow stage, any panel except the history closes.
 */
function openDetails(state: State, block: BlockIndex, zoomMax: number): State {
  const owner = state.wall?.claims.get(block)?.a
  const agent = owner === undefined || owner === state.agent ? state.agent : undefined
  const isCovered = state.panel !== 'time' && chooseLabelShape(state.view) === 'sheet'
  const isOver = state.panel === 'tour' || (agent === undefined && state.panel === 'profile')
  const panel = isCovered || isOver ? undefined : state.panel
  const next = { ...state, pinned: block, pointer: undefined, agent, panel }
  const isThere = zoomMax <= state.camera.zoom && fitsBesideDetails(state.camera, state.view, measureWork(next, block))
  return isThere ? next : flyCamera(next, frameWork(next, block, zoomMax))
}

/** The index of the shown stop of the tour. */
export const findStop = ({ stops = [], pinned }: State): number => stops.findIndex((block) => block === pinned)

/** The camera at a stop of the tour: its work in the middle of the stage, or an open block with its surroundings. */
function lookAtStop(state: State, block: BlockIndex): Camera {
  const isOpen = state.wall?.claims.has(block) !== true
  return lookAt(measureWork(state, block), state.view, isOpen ? BLOCK_ZOOM : WORK_ZOOM)
}

/** The state at a stop of the tour; an index before the first stop means the first, and after the last, the last. */
function goToStop(state: State, stop: number): State {
  const { stops = [] } = state
  const pinned = stops[Math.max(0, Math.min(stop, stops.length - 1))]
  if (pinned === undefined) return state
  const next: State = { ...state, panel: 'tour', pinned, agent: undefined, pointer: undefined, cursor: undefined }
  return flyCamera(next, lookAtStop(next, pinned))
}

/** The bounds of the artwork that a block is part of, or of the open block itself. */
export const measureWork = ({ wall, at }: State, block: BlockIndex): Rect =>
  computeBounds((wall && findArtwork(wall, block, at)?.blocks) ?? [block])

/** The camera that shows an artwork next to its details. */
export const frameWork = (state: State, block: BlockIndex, zoomMax = WORK_ZOOM): Camera =>
  lookBeside(measureWork(state, block), state.view, zoomMax)

/** A tap opens a block's details. If blocks are too small to tap, it opens the nearest artwork, or zooms in. */
function tapStage(state: State, at: Point, byFinger: boolean): State {
  const { camera, view } = state
  if (byFinger && camera.zoom * BLOCK_SIZE < FINGER_PX) {
    const meant = findWorkNear(state, at)
    if (meant === undefined)
      return flyCamera(state, zoom(camera, view, (2 * FINGER_PX) / (camera.zoom * BLOCK_SIZE), at))
    return openDetails(state, meant, WORK_ZOOM)
  }
  return toggleDetails(state, findBlock(camera, view, at))
}

/** The claimed block nearest to a point, within a finger's reach. */
function findWorkNear({ wall, camera, view, at: moment = Infinity }: State, at: Point): BlockIndex | undefined {
  const reach = Math.ceil(FINGER_REACH_PX / (camera.zoom * BLOCK_SIZE))
  const middle = toWall(camera, view, at)
  const [col, row] = [Math.floor(middle.x / BLOCK_SIZE), Math.floor(middle.y / BLOCK_SIZE)]
  let nearest: { readonly block: BlockIndex; readonly away: number } | undefined
  for (let down = -reach; down <= reach; down++)
    for (let right = -reach; right <= reach; right++) {
      const block = getBlockAt(col + right, row + down)
      const away = Math.hypot(right, down)
      if (block === undefined || away > reach || away >= (nearest?.away ?? Infinity)) continue
      const claim = wall?.claims.get(block)
      if (claim !== undefined && claim.t <= moment) nearest = { block, away }
    }
  return nearest?.block
}

const computeMiddle = (view: View): Point => ({ x: view.width / 2, y: view.height / 2 })

/**
 * Opens the details of a block; closes them if the details of its artwork are already open, or if there is no block.
 */
function toggleDetails(state: State, block: BlockIndex | undefined): State {
  if (block === undefined || block === state.pinned || findOpenWork(state, state.at).includes(block))
    return { ...state, pinned: undefined }
  return { ...openDetails(state, block, state.camera.zoom), pointer: state.pointer }
}

/** The blocks of the pinned artwork that were sold by a moment; empty if the pinned block was not sold by then. */
export const findOpenWork = ({ wall, pinned }: State, at?: number): Work =>
  wall === undefined || pinned === undefined ? [] : findWork(wall, pinned, at)
