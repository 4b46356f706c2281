/** The paint page: connects the sketch, the steps, the components and the preview. */

import { formatSummary } from '../../shared/money.ts'
import { getCell, parseCoord } from '../../shared/wall.ts'
import { type Camera, clampCamera, fitWall, isFitted, moveIntoView, measureView } from '../camera/camera.ts'
import { createShell } from '../shell.ts'
import { differsIn } from '../state.ts'
import { queryElement } from '../ui/dom.ts'
import { createTicks } from '../ui/ticks.ts'
import type { Wall } from '../wall/wall-model.ts'
import { createForm, moveToOpenSpace } from './form.ts'
import { createCostPanel } from './order/cost-panel.ts'
import { countCoveredBlocks } from './order/cost-summary.ts'
import { createExportPanel } from './order/export-panel.ts'
import { createOwnerSection } from './owner-section.ts'
import { createImageClient, listenForPictures, showOpenResult } from './pictures.ts'
import { type Plan, isPlan, createPictureFile, readPlan } from './plan.ts'
import { type PreviewControls, listenToInput } from './pointer-input.ts'
import { createPreview } from './preview.ts'
import { countHeldBlocks } from './service.ts'
import type { Component, Sketch, Studio } from './sketch.ts'
import {
  measureCoveredArea,
  getArea,
  lookAtSketch,
  moveSketch,
  createSketch,
  replacePicture,
  applyPlan,
} from './sketch.ts'
import { createSteps } from './steps.ts'

// How long a picture must stay in place before the page checks for held blocks under it, and the time between checks.
const REST_MS = 500
const AGAIN_MS = 15_000

const stage = queryElement('stage', HTMLElement)
const canvas = queryElement('wall', HTMLCanvasElement)
const counts = queryElement('counts', HTMLElement)
const invitation = queryElement('invitation', HTMLElement)

const asked = parseCoord(new URLSearchParams(location.search).get('at') ?? '')
let sketch = createSketch(asked === undefined ? { col: 80, row: 45 } : getCell(asked))
let view = measureView(stage)
let camera = fitWall(view)
let isPlaced = asked !== undefined // whether a position was chosen, by the user or the address

const shell = createShell({
  stage,
  draw,
  setTheme: (theme) => preview.setTheme(theme),
  resize(next) {
    const isWhole = isFitted(camera, view)
    view = next
    camera = isWhole ? fitWall(view) : clampCamera(camera, view)
    preview.resize(view)
  },
  getWall: () => sketch.wall,
  showWall,
})
const preview = createPreview(canvas, shell.appearance.getTheme())
const drawTicks = createTicks(stage)
const images = createImageClient((painted) => setSketch({ ...sketch, painted }))
const studio: Studio = { getSketch: () => sketch, setSketch, lookAtPicture }
const steps = createSteps()
const components: readonly Component[] = [
  steps,
  createForm(studio),
  createCostPanel(),
  createExportPanel(() => sketch),
  createOwnerSection(studio),
]

const controls: PreviewControls = {
  ...studio,
  getCamera: () => camera,
  getView: () => view,
  moveCamera,
  movePicture(at) {
    if (sketch.picture === undefined) return
    setSketch(moveSketch(sketch, at))
    moveCamera(moveIntoView(camera, view, measureCoveredArea(sketch)))
  },
}

function setSketch(next: Sketch) {
  const before = sketch
  sketch = next
  if (next.picture && differsIn(next, before, 'picture', 'size', 'style'))
    images.paint({ size: next.size, style: next.style })
  if (next.at !== before.at) isPlaced = true
  preview.update(next, before)
  for (const component of components) component.update(next, before)
  const isOther = differsIn(next, before, 'at', 'size', 'picture')
  if (isOther || next.wall?.complete !== before.wall?.complete) scheduleHoldCheck()
  shell.requestFrame()
}

function moveCamera(next: Camera) {
  camera = next
  shell.requestFrame()
}

function draw() {
  preview.draw(sketch, camera, view)
  drawTicks(camera, view, true)
  document.body.dataset['drawn'] = String(Number(document.body.dataset['drawn'] ?? 0) + 1)
}

function lookAtPicture() {
  moveCamera(lookAtSketch(sketch, view))
}

async function openFile(file: File, plan?: Plan) {
  const opened = await images.open(file)
  if (opened === undefined) return
  showOpenResult(opened)
  steps.goToStep('picture')
  if (typeof opened === 'string') return
  invitation.hidden = true
  const wasPlaced = isPlaced || plan !== undefined
  setSketch(plan === undefined ? replacePicture(sketch, opened) : applyPlan(sketch, opened, plan))
  lookAtPicture()
  if (plan !== undefined) steps.goToStep('deal')
  if (!wasPlaced) queryElement('room-status', HTMLElement).textContent = await moveToOpenSpace(studio, false)
}

/** Opens the plan in the page's URL, if there is one. */
async function openPlan() {
  if (!isPlan(location.hash)) return
  const plan = await readPlan(location.hash)
  if (plan === undefined)
    queryElement('flaw', HTMLElement).textContent =
      'The plan in this link cannot be opened. The link may have been cut off.'
  else await openFile(await createPictureFile(plan), plan)
}

let holdTimer: ReturnType<typeof setTimeout> | undefined
let asking = new AbortController()

/**
 * Checks whether somebody is paying for open blocks under the picture: once the picture stops moving, and then at
 * intervals.
 */
function scheduleHoldCheck(afterMs = REST_MS) {
  clearTimeout(holdTimer)
  asking.abort()
  const { others, mine } = countCoveredBlocks(sketch)
  if (sketch.picture === undefined || !sketch.wall?.complete || others + mine > 0) return
  asking = new AbortController()
  const { signal } = asking
  holdTimer = setTimeout(() => void checkHolds(), afterMs)
  const checkHolds = async () => {
    const held = document.hidden ? undefined : await countHeldBlocks(getArea(sketch), signal).catch(() => undefined)
    if (signal.aborted) return
    if (held !== undefined && held !== sketch.held) setSketch({ ...sketch, held })
    scheduleHoldCheck(AGAIN_MS)
  }
}

function showWall(wall: Wall) {
  if (wall.complete) counts.textContent = formatSummary(wall.stats.claimed, wall.pricing.perBlock)
  setSketch({ ...sketch, wall })
}

listenToInput(canvas, controls)
listenForPictures((file) => void openFile(file))
window.addEventListener('hashchange', () => void openPlan())
void openPlan()
shell.start()
