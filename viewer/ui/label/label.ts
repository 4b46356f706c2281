/** Shows the label of the pinned block or work beside it, and describes what is shown to screen readers. */

import type { BlockIndex } from '../../../shared/wall.ts'
import { boxAround } from '../../camera/hover.ts'
import { deedReader } from '../../data/deed-reader.ts'
import type { Page, Component } from '../../page.ts'
import { heightBelow, labelShape, labelWidth, placeCard, SHEET_SHARE } from '../../label-layout.ts'
import { showsLabel, shownBlock, shownWall, workBounds, type State } from '../../state.ts'
import { artworkAt, workAt } from '../../wall/artworks.ts'
import { spoken } from '../../wall/formatting.ts'
import { knownBlockAt } from '../../wall/wall-model.ts'
import { button, createElement, query, refill } from '../dom.ts'
import { addPayment, cardContent, type CardActions } from './card.ts'
import { shareWork } from './share-link.ts'
import { createHandle } from './sheet-handle.ts'

// The deed is read, and the block described, once what is shown stays the same for this long.
const REST_MS = 150

/** The label and the text for screen readers. */
export function createLabel(page: Page): Component {
  const readDeed = deedReader()
  const element = query('card', HTMLElement)
  const body = createElement('div', 'body')
  const handle = createHandle(element, () => page.dispatch({ do: 'dismiss' }))
  const close = button('close', ['×'], () => page.dispatch({ do: 'unpin' }))
  close.ariaLabel = 'Close'
  element.append(handle.element, body, close)
  const acts = actsOn(page)
  let wanted = new AbortController()
  let shown: BlockIndex | undefined
  let height = 0 // in CSS pixels, with its details folded
  element.style.setProperty('--lowered', `${100 * SHEET_SHARE}%`)
  const speak = createSpeaker()

  const place = (state: State) => {
    const { pinned, camera, view } = state
    if (element.hidden || pinned === undefined) return
    const shape = labelShape(view)
    element.dataset['shape'] = shape
    element.style.width = `${labelWidth(view)}px`
    if (shape === 'sheet') return void (element.style.maxHeight = '')
    const box = boxAround(camera, view, workBounds(state, pinned))
    const { x, y } = placeCard(box, { width: labelWidth(view), height }, view)
    element.style.transform = `translate(${x}px, ${y}px)`
    // What unfolds makes the card longer, but never moves it away from the pointer.
    element.style.maxHeight = `${heightBelow(y, view)}px`
  }

  const hide = () => {
    if (element.contains(document.activeElement)) query('wall', HTMLElement).focus({ preventScroll: true })
    element.hidden = true
    shown = undefined
  }

  const fill = (state: State) => {
    wanted.abort()
    wanted = new AbortController()
    const { signal } = wanted
    const { wall, at, pinned } = state
    const seen = shownWall(state)
    if (wall === undefined || seen === undefined || pinned === undefined || !showsLabel(state)) return hide()
    const known = knownBlockAt(seen, pinned, at)
    // Nothing is known of a block whose row has not arrived yet.
    if (known.kind === 'open' && !wall.complete) return hide()
    const work = artworkAt(seen, pinned, at)
    const isOther = shown !== pinned
    const around = { wall: seen, work, theme: page.appearance.theme(), shape: labelShape(state.view) }
    const unfolded = !isOther && body.querySelector('details')?.open === true
    refill(body, cardContent(known, around, acts))
    if (isOther) {
      handle.lower()
      body.scrollTop = 0
    }
    element.hidden = false
    shown = pinned
    place(state)
    height = heightOf(element)
    const details = body.querySelector('details')
    if (details) details.open = unfolded
    place(state)
    if (known.kind === 'claimed') setTimeout(() => void pay(pinned, signal), REST_MS)
  }

  const pay = async (block: BlockIndex, signal: AbortSignal) => {
    const deed = signal.aborted ? undefined : await readDeed(block, signal)
    if (deed && !signal.aborted) addPayment(body, deed, page.state().wall?.pricing.network ?? '')
  }

  return {
    update(next, before) {
      const isMoved = next.pinned !== before.pinned || next.at !== before.at
      if (isMoved || showsLabel(next) !== showsLabel(before) || touches(next, before)) fill(next)
      if (shownBlock(next) !== shownBlock(before) || isMoved) speak(next)
    },
    restyle: fill,
    frame: place,
  }
}

const actsOn = (page: Page): CardActions => ({
  selectAgent: (agent) => page.dispatch({ do: 'select-agent', agent }),
  zoomToWork: (block) => page.dispatch({ do: 'zoom-to-work', block }),
  share: shareWork,
  invite: (block) => page.dispatch({ do: 'invite', block }),
})

/** How high an element is when nothing limits it. */
function heightOf(element: HTMLElement): number {
  element.style.maxHeight = 'none'
  return element.offsetHeight
}

/** Describes the cursor's block or the pinned one to screen readers. */
function createSpeaker(): (state: State) => void {
  const told = query('spoken', HTMLElement)
  let timer: ReturnType<typeof setTimeout> | undefined
  return (state) => {
    clearTimeout(timer)
    const block = state.cursor ?? state.pinned
    const wall = shownWall(state)
    if (wall === undefined || block === undefined || !wall.complete) return
    timer = setTimeout(() => {
      told.textContent = spoken(knownBlockAt(wall, block, state.at), workAt(wall, block, state.at))
    }, REST_MS)
  }
}

/** Whether the wall has changed at what is pinned. */
function touches(next: State, before: State): boolean {
  const wall = shownWall(next)
  if (wall === shownWall(before) || wall === undefined || next.pinned === undefined) return false
  if (wall.changed === undefined || wall.complete !== before.wall?.complete) return true
  const work = workAt(wall, next.pinned, next.at)
  return wall.changed.some((block) => block === next.pinned || work.includes(block))
}
