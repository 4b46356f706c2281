/** Describes the block under the pointer after a short delay, or the block at the keyboard cursor. */

import { formatPrice } from '../../shared/money.ts'
import { formatTitle } from '../../shared/titles.ts'
import { type BlockIndex, formatCoord } from '../../shared/wall.ts'
import { computeBlockBox } from '../camera/camera.ts'
import type { Component, Page } from '../page.ts'
import { type State, findPointedBlock, selectShownWall } from '../state.ts'
import { findArtwork, findWork } from '../wall/artworks.ts'
import { formatAgentName, formatWorkSize } from '../wall/formatting.ts'
import { addLayer, createElement, createUntrustedText } from './dom.ts'

// A tooltip is shown once the pointer has stayed on the same artwork or open block for this long.
const REST_MS = 150

// The distance from the pointer's tip, in CSS pixels.
const GAP_PX = 16

/** A small label next to the pointer; the label ignores pointer events. */
export function createTooltip(page: Page, stage: HTMLElement): Component {
  // Screen readers get the same text from the live region `spoken`.
  const element = addLayer(stage, 'tooltip')
  element.hidden = true
  let timer: ReturnType<typeof setTimeout> | undefined
  let named: BlockIndex | undefined // the block that the tooltip describes, or will describe once the pointer rests

  const hideTooltip = () => {
    clearTimeout(timer)
    element.hidden = true
    named = undefined
  }
  const placeTooltip = (state: State) => {
    const at = findAnchor(state)
    if (at === undefined || element.hidden) return
    const { offsetWidth: width, offsetHeight: height } = element
    const x = at.x + GAP_PX + width > state.view.width ? at.x - GAP_PX - width : at.x + GAP_PX
    const y = at.y + GAP_PX + height > state.view.height ? at.y - GAP_PX - height : at.y + GAP_PX
    element.style.transform = `translate(${Math.round(Math.max(4, x))}px, ${Math.round(Math.max(4, y))}px)`
  }
  const showTooltip = () => {
    const state = page.getState()
    const lines = named === undefined ? undefined : renderLines(state, named)
    // If the block's data has not arrived yet, the next update tries again.
    if (lines === undefined) return hideTooltip()
    element.replaceChildren(...lines)
    element.hidden = false
    placeTooltip(state)
  }
  const followPointer = (state: State) => {
    const wall = selectShownWall(state)
    const block = findPointedBlock(state)
    if (wall === undefined || block === undefined) return hideTooltip()
    const work = findWork(wall, block, state.at)
    // If the details of the artwork are open, they already say more about it.
    if (state.pinned !== undefined && (block === state.pinned || work.includes(state.pinned))) return hideTooltip()
    const first = work[0] ?? block
    if (first === named) return
    hideTooltip()
    named = first
    timer = setTimeout(showTooltip, state.cursor === undefined ? REST_MS : 0)
  }
  return {
    update: followPointer,
    onDraw(state) {
      followPointer(state)
      placeTooltip(state)
    },
  }
}

function findAnchor({ pointer, cursor, camera, view }: State) {
  if (cursor === undefined) return pointer
  const { left, top, width, height } = computeBlockBox(camera, view, cursor)
  return { x: left + width, y: top + height / 2 }
}

/** The text for a block; undefined if its data has not arrived yet. */
function renderLines(state: State, block: BlockIndex): Node[] | undefined {
  const { wall, at } = state
  const shown = selectShownWall(state)
  if (wall === undefined || shown === undefined) return undefined
  const work = findArtwork(shown, block, at)
  if (work === undefined) {
    if (!wall.complete) return undefined
    const price = wall.claims.has(block) ? 'not sold yet' : formatPrice(wall.pricing.perBlock)
    return [createElement('strong', 'Available'), createElement('span', `${formatCoord(block)} · ${price}`)]
  }
  const owner = wall.agents[work.agent]
  const name = owner === undefined ? '' : formatAgentName(owner)
  return [
    createUntrustedText(work.message === undefined ? 'strong.unnamed' : 'strong', formatTitle(work.message)),
    createElement('span', createElement('bdi', name), ` · ${formatWorkSize(work.blocks)}`),
  ]
}
