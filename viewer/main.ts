/** The page: wires input, state, drawing and cards. Nothing runs while nothing changes. */

import type { BlockIndex } from '../shared/wall.ts'
import type { View } from './camera.ts'
import { frameOf } from './gl/frame.ts'
import { createRenderer, type Renderer } from './gl/renderer.ts'
import { boxOf, placeCard } from './hover.ts'
import { listen } from './input.ts'
import { plotAt, wallOf } from './plot.ts'
import { deedReader, readCanvas } from './source.ts'
import { begin, resize, shownBlock, step, type Intent, type State } from './state.ts'
import { dark, light } from './theme.ts'
import { createCard } from './ui/card.ts'
import { find } from './ui/dom.ts'
import { hush, say } from './ui/notice.ts'

// A deed is asked for once the pointer rests; sweeping over the wall asks for none.
const REST_MS = 150

const stage = find('stage', HTMLElement)
const canvas = find('wall', HTMLCanvasElement)
const notice = find('notice', HTMLElement)
const counts = find('counts', HTMLElement)
const card = createCard(find('card', HTMLElement), () => send({ do: 'dismiss' }))
const prefersLight = window.matchMedia('(prefers-color-scheme: light)')
const readDeed = deedReader()

let state = begin(viewOf(stage))
let renderer: Renderer | undefined
let frameAsked = false
let deedWanted = new AbortController()

const theme = () => (prefersLight.matches ? light : dark)

function viewOf({ clientWidth, clientHeight }: HTMLElement): View {
  return { width: Math.max(clientWidth, 1), height: Math.max(clientHeight, 1) }
}

function send(intent: Intent) {
  become(step(state, intent))
}

function become(next: State) {
  const before = state
  state = next
  const otherBlock = shownBlock(next) !== shownBlock(before)
  if (otherBlock || next.pinned !== before.pinned || next.wall !== before.wall) fillCard()
  if (otherBlock || next.camera !== before.camera || next.wall !== before.wall) askFrame()
}

function askFrame() {
  if (frameAsked) return
  frameAsked = true
  requestAnimationFrame(draw)
}

function draw() {
  frameAsked = false
  const block = shownBlock(state)
  if (state.wall) renderer?.draw(frameOf(state.camera, state.view, canvas.width / state.view.width, block))
  if (block !== undefined) card.moveTo(placeCard(boxOf(state.camera, state.view, block), card.size(), state.view))
}

function fillCard() {
  deedWanted.abort()
  deedWanted = new AbortController()
  const block = shownBlock(state)
  if (state.wall === undefined || block === undefined) return card.hide()
  const plot = plotAt(state.wall, block)
  card.show(plot, state.pinned === block, theme())
  if (plot.kind === 'claimed') void addPayment(block, deedWanted.signal)
}

async function addPayment(block: BlockIndex, signal: AbortSignal) {
  await new Promise((rested) => setTimeout(rested, REST_MS))
  if (signal.aborted) return
  const deed = await readDeed(block, signal)
  if (deed && !signal.aborted) card.addPayment(deed)
}

function fitStage() {
  const view = viewOf(stage)
  canvas.width = Math.round(view.width * devicePixelRatio)
  canvas.height = Math.round(view.height * devicePixelRatio)
  become(resize(state, view))
  // Giving a canvas a size empties it, so it is drawn again before the browser paints.
  draw()
}

function startDrawing() {
  renderer = createRenderer(canvas)
  if (renderer === undefined) return say(notice, 'This browser has no WebGL, which draws the wall.')
  renderer.setTheme(theme())
  if (state.wall) renderer.setAtlas(state.wall.atlas)
  askFrame()
}

function stopDrawing(event: Event) {
  // Without this the browser would not give the context back.
  event.preventDefault()
  renderer?.destroy()
  renderer = undefined
}

async function load() {
  try {
    const wall = wallOf(await readCanvas())
    const { claimed, remaining } = wall.canvas.stats
    counts.textContent = `${claimed.toLocaleString()} claimed · ${remaining.toLocaleString()} open`
    if (renderer) hush(notice)
    renderer?.setAtlas(wall.atlas)
    become({ ...state, wall })
  } catch {
    say(notice, 'The wall could not be read.', () => {
      hush(notice)
      void load()
    })
  }
}

startDrawing()
canvas.addEventListener('webglcontextlost', stopDrawing)
canvas.addEventListener('webglcontextrestored', startDrawing)
listen(canvas, send, new AbortController().signal)
new ResizeObserver(fitStage).observe(stage)
prefersLight.addEventListener('change', () => {
  renderer?.setTheme(theme())
  fillCard()
  askFrame()
})
find('zoom-in', HTMLElement).addEventListener('click', () => send({ do: 'zoom', factor: 1.5 }))
find('zoom-out', HTMLElement).addEventListener('click', () => send({ do: 'zoom', factor: 1 / 1.5 }))
find('fit', HTMLElement).addEventListener('click', () => send({ do: 'fit' }))
void load()
