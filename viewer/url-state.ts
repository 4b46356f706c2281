/** The address bar follows the state, and a link leads to the state it was made from. */

import { readAddress, writeAddress, type Place } from './address.ts'
import { clamp, fit, lookAt } from './camera/camera.ts'
import { travelled, type State } from './state.ts'
import { areaOf, blocksOf } from './wall/artworks.ts'
import { agentNamed } from './wall/search.ts'

// Browsers refuse to change the address too often.
const REST_MS = 250

// How near a block or an agent is shown that a link names without a place.
const BLOCK_ZOOM = 12
const AGENT_ZOOM = 8

/** The state at a place; agents are known only once the wall is. */
export function atPlace(state: State, place: Place): State {
  const { wall, view } = state
  const agent = wall && place.agent !== undefined ? agentNamed(wall, place.agent) : undefined
  const named = place.block !== undefined ? [place.block] : wall && agent !== undefined ? blocksOf(wall, agent) : []
  const near = place.block === undefined ? AGENT_ZOOM : BLOCK_ZOOM
  const camera = place.camera
    ? clamp(place.camera, view)
    : named.length > 0
      ? lookAt(areaOf(named), view, near)
      : fit(view)
  return travelled({ ...state, camera, motion: undefined, pinned: place.block, agent }, place.at)
}

/** Where a state is. */
export function placeOf({ camera, pinned, agent, at, wall }: State): Place {
  const owner = agent === undefined ? undefined : wall?.agents[agent]
  return { camera, block: pinned, agent: owner && String(owner.id), at }
}

/** The place the address bar names now. */
export const placeInBar = (): Place => readAddress(location.search, location.hash)

/** Query and fragment of a link to what a state shows. */
export const addressOf = (state: State, search: string): string => writeAddress(placeOf(state), state.view, search)

/** Keeps the address bar in step; the answer is to be called after each change. */
export function followInBar(state: () => State): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const write = () => {
    // Replaced, not pushed: moving about must not fill the history.
    history.replaceState(null, '', `${location.pathname}${addressOf(state(), location.search)}`)
  }
  return () => {
    clearTimeout(timer)
    timer = setTimeout(write, REST_MS)
  }
}
