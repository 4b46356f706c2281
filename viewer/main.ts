/** The wall's page: connects input, state, drawing and UI components. Nothing runs while nothing changes. */

import { formatBlocks, formatCount, formatSummary } from '../shared/money.ts'
import { TOTAL_BLOCKS } from '../shared/wall.ts'
import { storeValue } from './appearance.ts'
import { measureView } from './camera/camera.ts'
import { readKeptWall } from './data/kept-copy.ts'
import { createStageRenderer } from './gl/stage-renderer.ts'
import { listenToStage, listenToZoomButtons } from './input/stage-input.ts'
import { readWallName, readSoldArea } from './page-words.ts'
import type { Component, Page } from './page.ts'
import { createShell, showScriptLoadError } from './shell.ts'
import type { Action, State } from './state.ts'
import {
  PANELS,
  differsIn,
  createState,
  isSameCamera,
  countLayers,
  resizeStage,
  findShownBlock,
  reduceState,
} from './state.ts'
import { createLink, queryElement } from './ui/dom.ts'
import { showToast } from './ui/messages.ts'
import { type Place, goToPlace, describeDeadLink, readAddressBar, syncAddressBar } from './url-state.ts'
import { formatDate } from './wall/formatting.ts'
import { addMissedChanges } from './wall/news.ts'
import { listMoments, countMomentsUntil } from './wall/wall-history.ts'
import type { Wall } from './wall/wall-model.ts'

const stage = queryElement('stage', HTMLElement)
const canvas = queryElement('wall', HTMLCanvasElement)
const lastView = document.getElementById('last-view')
const counts = queryElement('counts', HTMLElement)
const panelButtons = [...document.querySelectorAll<HTMLButtonElement>('button[data-panel]')]
const reducedMotion = window.matchMedia('(prefers-reduced-motion: reduce)')

let state = createState(measureView(stage), readSoldArea(), reducedMotion.matches)
let drawnAt: number | undefined // time of the previous frame of the current motion
let components: Component | undefined // panels and everything else that loads after the first drawing
let furnishing: Promise<void> | undefined // settles once the components have loaded, or have failed to load
let arriving = true
const opened = { search: location.search, place: readAddressBar() }
let isDeadLink = false // whether the opened link had no target yet: its target may be newer than the stored wall

const isEmbedded = new URLSearchParams(location.search).has('embed')
const shell = createShell({
  stage,
  keptCopy: isEmbedded
    ? undefined
    : { readKeptWall, captureOpeningView: openingView, loadKeepCopies: () => import('./ui/lazy-ui.ts') },
  draw,
  setTheme(theme) {
    stageRenderer.setTheme(theme)
    components?.restyle?.(state)
  },
  resize(view) {
    setState(resizeStage(state, view))
    stageRenderer.resize()
  },
  getWall: () => state.wall,
  showWall,
  onCaughtUp: retryDeadLink,
  waitForUi: () => furnishing,
})
const { appearance, requestFrame } = shell
const stageRenderer = createStageRenderer(canvas, () => state, appearance.getTheme(), requestFrame)
const updateAddressBar = syncAddressBar(
  () => state,
  () => dispatch({ do: 'dismiss' }),
  showPlace,
)

const page: Page = {
  getState: () => state,
  dispatch,
  appearance,
  isOnGpu: stageRenderer.isOnGpu,
  captureStage() {
    stageRenderer.draw()
    return canvas
  },
}

function dispatch(action: Action) {
  setState(reduceState(state, action))
}

function setState(next: State) {
  const before = state
  if (next === before) return
  state = next
  stageRenderer.update(next, before)
  const isOther = differsIn(next, before, 'pinned', 'overlay', 'agent', 'at', 'past', 'camera', 'wall')
  if (isOther || next.motion || findShownBlock(next) !== findShownBlock(before)) requestFrame()
  if (next.panel !== before.panel) for (const button of panelButtons) updatePanelButton(button)
  if (differsIn(next, before, 'wall', 'at')) showCounts()
  components?.update(next, before)
  if (!arriving) updateAddressBar(before)
}

function showCounts() {
  const { wall, at } = state
  if (!wall?.complete) return
  counts.textContent =
    at === undefined
      ? formatSummary(wall.stats.claimed, wall.pricing.perBlock)
      : `${formatCount(countMomentsUntil(listMoments(wall), at))} of ${formatBlocks(TOTAL_BLOCKS)} sold as of ${formatDate(at)}.`
}

function draw(now?: number) {
  if (now !== undefined) advanceMotionTo(now)
  if (stageRenderer.draw()) lastView?.remove()
  components?.onDraw?.(state)
}

/** Advances the motion to the time of a frame. */
function advanceMotionTo(now: number) {
  const ms = drawnAt === undefined ? 0 : now - drawnAt
  drawnAt = state.motion ? now : undefined
  if (state.motion) dispatch({ do: 'tick', ms })
}

/** Embedded in another page, this page shows only the wall and a link to the full page. */
function enterEmbedMode() {
  document.body.classList.add('embed')
  const home = createLink('home', '/', readWallName())
  home.target = '_blank'
  stage.append(home)
}

function updatePanelButton(button: HTMLButtonElement) {
  button.ariaExpanded = String(button.dataset['panel'] === state.panel)
}

function showWall(wall: Wall, since?: number) {
  const before = state.wall
  const missed = since === undefined ? state.missed : addMissedChanges(before, wall, since, state.missed)
  setState({ ...state, wall, missed })
  // A link can be resolved only once the whole wall is known; a wall that the user has moved meanwhile stays where it
  // is.
  const hasArrived = arriving && wall.complete
  if (before === undefined || hasArrived) showPlace(readAddressBar(), state.isMoved)
  if (hasArrived) {
    arriving = false
    isDeadLink = describeDeadLink(state, opened.search) !== undefined
  }
  if (before === undefined) furnishing = loadLazyUi()
}

/** The freshly drawn stage, if the GPU drew it and it shows the view that the next visit opens with. */
function openingView(): HTMLCanvasElement | undefined {
  const isOpening =
    isSameCamera(state.camera, state.initialCamera) && countLayers(state) === 0 && state.overlay === 'none'
  return isOpening && stageRenderer.isOnGpu() ? page.captureStage() : undefined
}

/** Goes to the link's target if the target exists by now; otherwise shows a message that it does not exist. */
function retryDeadLink() {
  if (!isDeadLink) return
  const message = describeDeadLink(state, opened.search)
  if (message === undefined) showPlace(opened.place, state.isMoved)
  else showToast(message)
}

function showPlace(place: Place, keepsCamera: boolean) {
  const next = goToPlace(state, place)
  setState(keepsCamera ? { ...next, camera: state.camera } : next)
}

/** Loads the rest of the page once the wall has begun to arrive. */
async function loadLazyUi() {
  try {
    const { createLazyUi } = await import('./ui/lazy-ui.ts')
    components = createLazyUi(page)
  } catch {
    return showScriptLoadError()
  }
  components.update(state, createState(state.view))
  requestFrame()
}

listenToStage(canvas, dispatch)
reducedMotion.addEventListener('change', () => setState({ ...state, reducedMotion: reducedMotion.matches }))
for (const button of panelButtons) {
  const panel = PANELS.find((name) => name === button.dataset['panel'])
  if (panel) button.addEventListener('click', () => dispatch({ do: 'open', panel }))
}
listenToZoomButtons(dispatch)
if (isEmbedded) enterEmbedMode()
// A script in the page's HTML reads this value before the first paint.
storeValue('visited', '1')
shell.start()
