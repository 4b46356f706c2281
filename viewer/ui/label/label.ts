/** Shows the label of the pinned block or work beside it, and describes what is shown to screen readers. */

import type { BlockIndex } from '../../../shared/wall.ts'
import { boxAround, placeCard } from '../../camera/hover.ts'
import { deedReader } from '../../data/deed-reader.ts'
import type { Page, Component } from '../../page.ts'
import { shownBlock, shownWall, type State } from '../../state.ts'
import { boundsOf, artworkAt, nearestOpen, workAt } from '../../wall/artworks.ts'
import { spoken } from '../../wall/formatting.ts'
import { knownBlockAt } from '../../wall/wall-model.ts'
import { button, query, createElement } from '../dom.ts'
import { addPayment, cardContent, type CardActions } from './card.ts'
import { shareWork } from './share-link.ts'
import { createHandle } from './sheet-handle.ts'

// The deed is read, and the block described, once what is shown stays the same for this long.
const REST_MS = 150

const GAP_PX = 12

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
  const speak = createSpeaker()

  const place = (state: State) => {
    const { wall, pinned, camera, view } = state
    if (element.hidden || wall === undefined || pinned === undefined) return
    const blocks = workAt(wall, pinned, state.at)
    const box = boxAround(camera, view, boundsOf(blocks.length > 0 ? blocks : [pinned]))
    const { x, y } = placeCard(box, { width: element.offsetWidth, height: element.offsetHeight }, view)
    element.style.transform = `translate(${x}px, ${y}px)`
  }
  // Its height changes when the payment arrives or its details are unfolded.
  new ResizeObserver(() => place(page.state())).observe(element)

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
    if (wall === undefined || seen === undefined || pinned === undefined) return hide()
    const known = knownBlockAt(seen, pinned, at)
    // Nothing is known of a block whose row has not arrived yet.
    if (known.kind === 'open' && !wall.complete) return hide()
    const work = artworkAt(seen, pinned, at)
    const isOther = shown !== pinned
    const around = { wall: seen, work, neighbour: nearestOpen(wall, pinned), theme: page.appearance.theme() }
    refill(body, cardContent(known, around, acts), isOther)
    if (isOther) handle.lower()
    element.hidden = false
    shown = pinned
    if (isOther) uncover(page, element, work?.blocks ?? [pinned])
    place(page.state())
    if (known.kind === 'claimed') setTimeout(() => void pay(pinned, signal), REST_MS)
  }

  const pay = async (block: BlockIndex, signal: AbortSignal) => {
    const deed = signal.aborted ? undefined : await readDeed(block, signal)
    if (deed && !signal.aborted) addPayment(body, deed, page.state().wall?.pricing.network ?? '')
  }

  return {
    update(next, before) {
      const isMoved = next.pinned !== before.pinned || next.at !== before.at
      if (isMoved || touches(next, before)) fill(next)
      if (shownBlock(next) !== shownBlock(before) || isMoved) speak(next)
    },
    restyle: fill,
    frame: place,
  }
}

const actsOn = (page: Page): CardActions => ({
  selectAgent: (agent) => page.dispatch({ do: 'select-agent', agent }),
  go: (to) => page.dispatch({ do: 'go', to }),
  zoomToWork: (block) => page.dispatch({ do: 'zoom-to-work', block }),
  share: shareWork,
  invite: (block) => page.dispatch({ do: 'invite', block }),
})

/** Moves the wall where the label would cover what it describes. */
function uncover(page: Page, label: HTMLElement, blocks: readonly BlockIndex[]) {
  const { camera, view } = page.state()
  const box = boxAround(camera, view, boundsOf(blocks))
  const { offsetWidth: width, offsetHeight: height } = label
  if (width > view.width - 2 * GAP_PX) {
    const hidden = box.top + box.height - (view.height - height - GAP_PX)
    if (hidden > 0) page.dispatch({ do: 'pan', dx: 0, dy: -Math.min(hidden, Math.max(box.top, 0)) })
    return
  }
  const taken = width + 2 * GAP_PX
  const [left, right] = [box.left, view.width - box.left - box.width]
  if (Math.max(left, right) >= taken || box.width > view.width - taken) return
  page.dispatch({ do: 'pan', dx: right >= left ? right - taken : taken - left, dy: 0 })
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

/** Replaces the label's content. For the same block, unfolded details and the focus stay as they were. */
function refill(body: HTMLElement, content: readonly Node[], isOther: boolean) {
  const unfolded = !isOther && body.querySelector('details')?.open === true
  const focusable = () => [...body.querySelectorAll<HTMLElement>('button, a, summary')]
  const focused = focusable().findIndex((one) => one === document.activeElement)
  body.replaceChildren(...content)
  const details = body.querySelector('details')
  if (details) details.open = unfolded
  if (isOther) body.scrollTop = 0
  if (focused >= 0) (focusable()[focused] ?? focusable()[0])?.focus({ preventScroll: true })
}
