/**
 * Shows the details of the pinned block or artwork next to it, as a card or a sheet with a handle, and describes the
 * shown block to screen readers.
 */

import type { Deed } from '../../../shared/contract/block.ts'
import { type BlockIndex, formatCoord } from '../../../shared/wall.ts'
import { projectRect } from '../../camera/camera.ts'
import {
  SHEET_SHARE,
  measureHeightBelow,
  chooseLabelShape,
  computeLabelWidth,
  placeCard,
} from '../../camera/label-layout.ts'
import { readJson } from '../../data/read-json.ts'
import type { Component, Page } from '../../page.ts'
import { type State, findShownBlock, selectShownWall, isLabelShown, measureWork } from '../../state.ts'
import { findArtwork, findWork } from '../../wall/artworks.ts'
import { describeBlock } from '../../wall/formatting.ts'
import { createButton, createElement, queryElement, replaceContent } from '../dom.ts'
import { addPayment, renderCard } from './card.ts'

// The deed is read, and the block described, once the same block has been shown for this long.
const REST_MS = 150

/** The details and the text for screen readers. */
export function createLabel(page: Page): Component {
  const element = queryElement('card', HTMLElement)
  const body = createElement('div.body')
  const handle = createHandle(element, () => page.dispatch({ do: 'dismiss' }))
  const close = createButton('close', ['×'], () => page.dispatch({ do: 'unpin' }))
  close.ariaLabel = 'Close'
  element.append(handle.element, body, close)
  let wanted = new AbortController()
  let shown: BlockIndex | undefined
  const placement = createPlacement(element)
  const speak = createAnnouncer()

  const hideLabel = () => {
    // If a panel replaces the details, the panel takes the focus itself.
    const isClosed = page.getState().pinned === undefined
    if (isClosed && element.contains(document.activeElement))
      queryElement('wall', HTMLElement).focus({ preventScroll: true })
    element.hidden = true
    shown = undefined
  }

  const fillLabel = (state: State) => {
    wanted.abort()
    wanted = new AbortController()
    const { signal } = wanted
    const { wall, at, pinned } = state
    const seen = selectShownWall(state)
    if (wall === undefined || seen === undefined || pinned === undefined || !isLabelShown(state)) return hideLabel()
    const work = findArtwork(seen, pinned, at)
    // Until the block's data has arrived, it is unknown whether the block is sold.
    if (work === undefined && !wall.complete) return hideLabel()
    const isOther = shown !== pinned
    const unfolded = !isOther && body.querySelector('details')?.open === true
    replaceContent(body, renderCard(page, seen, pinned, work))
    if (isOther) {
      handle.lowerSheet()
      body.scrollTop = 0
    }
    element.hidden = false
    shown = pinned
    placement.measureLabel(state)
    const details = body.querySelector('details')
    if (details) details.open = unfolded
    if (work) setTimeout(() => void showPayment(pinned, signal), REST_MS)
  }

  const showPayment = async (block: BlockIndex, signal: AbortSignal) => {
    if (signal.aborted) return
    const init = { signal, headers: { accept: 'application/json' } }
    const deed = await readJson<Deed>(`/blocks/${formatCoord(block)}`, 'deed', init).catch(() => undefined)
    if (deed && !signal.aborted) addPayment(body, deed, page.getState().wall?.pricing.network ?? '')
  }

  return {
    update(next, before) {
      const isMoved = next.pinned !== before.pinned || next.at !== before.at
      if (isMoved || isLabelShown(next) !== isLabelShown(before) || hasWorkChanged(next, before)) fillLabel(next)
      if (findShownBlock(next) !== findShownBlock(before) || isMoved) speak(next)
    },
    restyle: fillLabel,
    onDraw: placement.placeLabel,
  }
}

/**
 * Positions the details next to their artwork. A section that the user unfolds makes the details longer, but never
 * moves them away from the pointer.
 */
function createPlacement(label: HTMLElement) {
  let height = 0 // in CSS pixels, with all sections folded
  label.style.setProperty('--lowered', `${100 * SHEET_SHARE}%`)
  const placeLabel = (state: State) => {
    const { pinned, camera, view } = state
    if (label.hidden || pinned === undefined) return
    const shape = chooseLabelShape(view)
    const width = computeLabelWidth(view)
    label.dataset['shape'] = shape
    label.style.width = `${width}px`
    label.style.maxHeight = ''
    if (shape === 'sheet') return
    const { x, y } = placeCard(projectRect(camera, view, measureWork(state, pinned)), { width, height }, view)
    label.style.transform = `translate(${x}px, ${y}px)`
    label.style.maxHeight = `${measureHeightBelow(y, view)}px`
  }
  const measureLabel = (state: State) => {
    placeLabel(state)
    label.style.maxHeight = 'none'
    height = Math.min(label.offsetHeight, measureHeightBelow(0, state.view))
    placeLabel(state)
  }
  return { placeLabel, measureLabel }
}

/** Describes the block at the cursor, or else the pinned block, to screen readers. */
function createAnnouncer(): (state: State) => void {
  const status = queryElement('spoken', HTMLElement)
  let timer: ReturnType<typeof setTimeout> | undefined
  return (state) => {
    clearTimeout(timer)
    const block = state.cursor ?? state.pinned
    const wall = selectShownWall(state)
    if (wall === undefined || block === undefined || !wall.complete) return
    timer = setTimeout(() => (status.textContent = describeBlock(wall, block, state.at)), REST_MS)
  }
}

/** Whether the pinned block or its artwork has changed. */
function hasWorkChanged(next: State, before: State): boolean {
  const wall = selectShownWall(next)
  if (wall === selectShownWall(before) || wall === undefined || next.pinned === undefined) return false
  if (wall.changed === undefined || wall.complete !== before.wall?.complete) return true
  const work = findWork(wall, next.pinned, next.at)
  return wall.changed.some((block) => block === next.pinned || work.includes(block))
}

// A pull shorter than this many CSS pixels is a press.
const PULL_PX = 24

/**
 * A handle that lifts or lowers a sheet; if the user pulls a lowered sheet down, it calls `letGo`. The returned
 * `lowerSheet` lowers the sheet as a press would.
 */
function createHandle(sheet: HTMLElement, letGo: () => void) {
  const setLifted = (lifted: boolean) => {
    sheet.classList.toggle('lifted', lifted)
    element.ariaExpanded = String(lifted)
  }
  const isLifted = () => sheet.classList.contains('lifted')
  let from: number | undefined
  let pulled = false
  const element = createButton('handle', [], () => {
    if (!pulled) setLifted(!isLifted())
    pulled = false
  })
  element.ariaLabel = 'Details'
  element.addEventListener('pointerdown', (event) => {
    from = event.clientY
    element.setPointerCapture(event.pointerId)
  })
  element.addEventListener('pointerup', (event) => {
    const way = event.clientY - (from ?? event.clientY)
    from = undefined
    pulled = Math.abs(way) >= PULL_PX
    if (!pulled) return
    if (way < 0) setLifted(true)
    else if (isLifted()) setLifted(false)
    else letGo()
  })
  setLifted(false)
  return { element, lowerSheet: () => setLifted(false) }
}
