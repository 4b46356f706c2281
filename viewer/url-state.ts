/** Keeps the address bar in step with the state, and finds the state that a link names. */

import { coordOf } from '../shared/wall.ts'
import { readAddress, writeAddress, type Place } from './address.ts'
import { clamp, fit, lookAt } from './camera/camera.ts'
import { isSame, lookAtWork, atMoment, type State } from './state.ts'
import { boundsOf, blocksOf, workAt } from './wall/artworks.ts'
import { agentNamed } from './wall/search.ts'

// Browsers refuse to change the address too often.
const REST_MS = 250

// The zoom for an open block or an agent that a link names without a place.
const BLOCK_ZOOM = 12
const AGENT_ZOOM = 8

/** The state at a place; agents are known only once the wall is. */
export function atPlace(state: State, place: Place): State {
  const { wall, view } = state
  const agent = wall && place.agent !== undefined ? agentNamed(wall, place.agent) : undefined
  const next = atMoment({ ...state, motion: undefined, pinned: place.block, agent }, place.at)
  return { ...next, camera: cameraAt(next, place, agent, view) }
}

function cameraAt(state: State, { camera, block }: Place, agent: number | undefined, view: State['view']) {
  const { wall, initialCamera } = state
  if (camera === 'all') return fit(view)
  if (camera !== undefined) return clamp(camera, view)
  if (block !== undefined && wall?.claims.has(block)) return clamp(lookAtWork(state, block), view)
  if (block !== undefined) return lookAt(boundsOf([block]), view, BLOCK_ZOOM)
  return wall && agent !== undefined ? lookAt(boundsOf(blocksOf(wall, agent)), view, AGENT_ZOOM) : initialCamera
}

/** Where a state is. */
export function placeOf({ camera, initialCamera, pinned, agent, at, wall }: State): Place {
  const owner = agent === undefined ? undefined : wall?.agents[agent]
  const work = wall === undefined || pinned === undefined ? [] : workAt(wall, pinned)
  return {
    camera: isSame(camera, initialCamera) ? undefined : camera,
    block: work.length > 1 ? work[0] : pinned,
    work: work.length > 1,
    agent: owner && String(owner.id),
    at,
  }
}

/** The place the address bar names now. */
export const placeInAddressBar = (): Place => readAddress(location.search, location.hash)

/** The message for a link that names nothing on the wall; `undefined` for a good one. */
export function deadLink({ wall }: State, search: string): string | undefined {
  const query = new URLSearchParams(search)
  const { block, work, agent } = readAddress(search, '')
  if (wall === undefined) return undefined
  if (agent !== undefined && agentNamed(wall, agent) === undefined) return `There is no agent “${agent}” on this wall.`
  const named = query.get('block') ?? query.get('work')
  if (named !== null && block === undefined) return `“${named}” is no block of this wall: they run from 0,0 to 159,89.`
  if (work && block !== undefined && !wall.claims.has(block)) return `Nothing is painted at ${coordOf(block)} yet.`
  return undefined
}

/** Query and fragment of a link to what a state shows. */
export const addressOf = (state: State, search: string): string => writeAddress(placeOf(state), state.view, search)

// What the page itself wrote, so that going back does not move the wall.
const OURS = { ours: true }
const OPENED = { ours: true, opened: true }

/**
 * Opening a label adds an entry to the browser's history; all else replaces the address. `goTo` shows the place of an entry.
 * Answers what is to be called after each change of the state.
 */
export function syncAddressBar(state: () => State, goTo: (place: Place, keepsCamera: boolean) => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let restoring = false
  let leaving = false // our own step back has begun; the address is written once it has ended
  const address = () => `${location.pathname}${addressOf(state(), location.search)}`
  // Replaced, not pushed: moving about must not fill the history.
  const replace = () => history.replaceState(history.state?.opened ? OPENED : OURS, '', address())
  const push = () => history.pushState(OPENED, '', address())
  window.addEventListener('popstate', (event) => {
    clearTimeout(timer)
    if (leaving) {
      leaving = false
      return state().pinned === undefined ? replace() : push()
    }
    restoring = true
    goTo(placeInAddressBar(), event.state?.ours === true)
    restoring = false
  })
  return (next: State, before: State): void => {
    clearTimeout(timer)
    if (restoring || leaving) return
    const hasOpened = before.pinned === undefined && next.pinned !== undefined
    const hasClosed = before.pinned !== undefined && next.pinned === undefined
    if (hasOpened) return push()
    if (hasClosed && history.state?.opened && next.agent === before.agent && next.at === before.at) {
      leaving = true
      return history.back()
    }
    timer = setTimeout(replace, REST_MS)
  }
}
