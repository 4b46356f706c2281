/**
 * The wall inside a chat: shows the subject of a tool call, and sends the user's request to the model. It never signs
 * or pays.
 */

import { App, applyHostStyleVariables, type McpUiHostContext } from '@modelcontextprotocol/ext-apps'
import type { Canvas } from '../../shared/contract/canvas.ts'
import type { Spaces } from '../../shared/contract/space.ts'
import { BLOCK_SIZE, getCell, parseCoord, type Cell } from '../../shared/wall.ts'
import { createAppearance } from '../appearance.ts'
import { clampCamera, fitWall, isFitted, moveIntoView, measureView, type Camera } from '../camera/camera.ts'
import { readCurrentPrice } from '../page-words.ts'
import { listenToInput } from '../studio/pointer-input.ts'
import { createPreview } from '../studio/preview.ts'
import { measureCoveredArea, lookAtSketch, moveSketch, createSketch, type Sketch } from '../studio/sketch.ts'
import { queryElement } from '../ui/dom.ts'
import { buildWall, type Wall } from '../wall/wall-model.ts'
import { parseProposal, WHOLE_WALL, type Proposal } from './proposal.ts'
import { createOffer, type Offer } from './words.ts'

const MIDDLE: Cell = { col: 80, row: 45 }

const stage = queryElement('stage', HTMLElement)
const canvas = queryElement('wall', HTMLCanvasElement)
const words = queryElement('offer', HTMLElement)
const action = queryElement('action', HTMLButtonElement)
const address = document.querySelector('meta[name="wall"]')?.getAttribute('content') ?? ''
const proposed = Promise.withResolvers<void>()

const app = new App({ name: 'pixel-wall', version: '1' }, {}, { autoResize: true })
const appearance = createAppearance(() => {
  preview.setTheme(appearance.getTheme())
  requestDrawing()
})
const preview = createPreview(canvas, appearance.getTheme())

let proposal: Proposal = WHOLE_WALL
let given: Readonly<Record<string, unknown>> = {}
let sketch: Sketch = createSketch(MIDDLE)
let isPlaced = false
let view = measureView(stage)
let camera = fitWall(view)
let drawing = false
let offer: Offer | undefined
let isCutOff = false

function setSketch(next: Sketch) {
  preview.update(next, sketch)
  sketch = next
  showOffer()
  requestDrawing()
}

function showOffer() {
  const { host } = new URL(address)
  const perBlock = readCurrentPrice(sketch.wall)
  offer = createOffer({ sketch, hasSize: proposal.size !== undefined, hasPlace: isPlaced, perBlock, host, isCutOff })
  words.textContent = offer.says
  action.textContent = offer.label
  action.hidden = app.getHostCapabilities()?.message === undefined
  action.disabled = false
}

function moveCamera(next: Camera) {
  camera = next
  requestDrawing()
}

function requestDrawing() {
  if (drawing) return
  drawing = true
  requestAnimationFrame(() => {
    drawing = false
    preview.draw(sketch, camera, view)
  })
}

function lookAtPicture() {
  moveCamera(proposal.size === undefined ? fitWall(view) : lookAtSketch(sketch, view))
}

/** Shows the position, size and picture of a tool call. */
function showProposal(next: Proposal) {
  proposal = next
  const { size = { w: 1, h: 1 }, at, indices, mine } = next
  isPlaced = at !== undefined
  const { style, wall } = sketch
  const picture = { name: '', width: size.w * BLOCK_SIZE, height: size.h * BLOCK_SIZE, isPhoto: false, isClear: false }
  setSketch(
    moveSketch(
      {
        ...createSketch(at ?? MIDDLE),
        wall,
        size,
        mine,
        picture: next.size === undefined ? undefined : picture,
        painted: indices === undefined ? undefined : { size, style, indices },
      },
      at ?? MIDDLE,
    ),
  )
  lookAtPicture()
  if (next.size !== undefined && at === undefined) void placePicture(next)
}

/**
 * Finds available space for a picture without a position, and places the picture there. If the host blocks requests,
 * the picture stays without a position.
 */
async function placePicture(asked: Proposal) {
  const { w = 1, h = 1 } = asked.size ?? {}
  const found = await readJson<Spaces>(`/api/space?w=${w}&h=${h}&limit=1`).catch(() => undefined)
  const at = parseCoord(found?.spaces[0]?.coord ?? '')
  if (at === undefined || proposal !== asked || isPlaced) return
  isPlaced = true
  setSketch(moveSketch(sketch, getCell(at)))
  lookAtPicture()
}

/**
 * Reads the whole wall. Rejects if the host blocks the requests; the background then stays plain, and the view says
 * why.
 */
async function readWall(): Promise<Wall> {
  const [pixels, blocks] = await Promise.all([
    fetch(`${address}/api/canvas.bin`).then((response) => response.arrayBuffer()),
    readJson<Canvas>('/api/blocks'),
  ])
  return buildWall({ pixels: new Uint8Array(pixels), blocks })
}

async function readJson<Body>(path: string): Promise<Body> {
  const response = await fetch(address + path, { headers: { accept: 'application/json' } })
  if (!response.ok) throw new Error(`${path} returned ${response.status}`)
  return (await response.json()) as Body
}

function applyHostContext({ theme, styles }: McpUiHostContext) {
  if (theme !== undefined) appearance.chooseTheme(theme)
  if (styles?.variables) applyHostStyleVariables(styles.variables)
}

function fitStage() {
  const isWhole = isFitted(camera, view)
  view = measureView(stage)
  camera = isWhole ? fitWall(view) : clampCamera(camera, view)
  preview.resize(view)
  preview.draw(sketch, camera, view)
}

async function sendOffer() {
  if (offer === undefined) return
  action.disabled = true
  const sent = await app
    .sendMessage({ role: 'user', content: [{ type: 'text', text: offer.message }] })
    .catch(() => ({ isError: true }))
  if (sent.isError === true) showOffer()
  else action.textContent = 'Sent'
}

app.addEventListener('toolinput', ({ arguments: args = {} }) => (given = args))
app.addEventListener('toolresult', ({ structuredContent = {}, isError }) => {
  if (isError !== true)
    showProposal(parseProposal({ given, answered: structuredContent as Readonly<Record<string, unknown>> }))
  proposed.resolve()
})
app.addEventListener('hostcontextchanged', applyHostContext)
action.addEventListener('click', () => void sendOffer())
listenToInput(canvas, {
  getSketch: () => sketch,
  getCamera: () => camera,
  getView: () => view,
  moveCamera,
  movePicture(at) {
    if (sketch.picture === undefined || sketch.mine.size > 0) return
    isPlaced = true
    setSketch(moveSketch(sketch, at))
    moveCamera(moveIntoView(camera, view, measureCoveredArea(sketch)))
  },
  lookAtPicture,
})
new ResizeObserver(fitStage).observe(stage)
await app.connect()
applyHostContext(app.getHostContext() ?? {})
showOffer()
const wallRead = readWall().then(
  (wall) => setSketch({ ...sketch, wall }),
  () => {
    isCutOff = true
    showOffer()
  },
)
await Promise.all([wallRead, proposed.promise])
// Tests wait for this: the proposal is drawn, and so is the wall if it could be read.
requestAnimationFrame(() => (document.body.dataset['call'] = 'shown'))
