/**
 * The page’s address, `?work=80,45&agent=3&at=1760000000000#x,y,zoom` or `#all`: a link opens the view that its sender
 * saw, and the address bar follows the state.
 */

import { type BlockIndex, formatCoord, parseCoord } from '../shared/wall.ts'
import { type Camera, type View, clampCamera, fitWall, isFitted } from './camera/camera.ts'
import { fitsBesideDetails } from './camera/label-layout.ts'
import {
  type State,
  frameAgent,
  seekMoment,
  isSameCamera,
  countLayers,
  findOpenWork,
  measureWork,
  frameWork,
} from './state.ts'
import { findAgent } from './wall/search.ts'

// Browsers limit how often a page may change its address.
const REST_MS = 250

/**
 * The state after an address has been opened. The agent in the address can be found only once the wall is known. An
 * address with an agent but no block opens the agent's profile, except in an embedded page.
 */
export function goToPlace(state: State, place: Place): State {
  const { wall } = state
  const agent = wall && place.agent !== undefined ? findAgent(wall, place.agent) : undefined
  const panel = agent !== undefined && place.block === undefined && !place.embedded ? 'profile' : state.panel
  const next = seekMoment({ ...state, motion: undefined, pinned: place.block, agent, panel }, place.at)
  return { ...next, camera: findCamera(next, place) }
}

/**
 * The camera of an address. If the artwork would not fit next to its details, for example in a smaller window, another
 * camera that shows both is used.
 */
function findCamera(state: State, { camera, block }: Place): Camera {
  const { wall, initialCamera, view, agent } = state
  const asked = camera === 'all' ? fitWall(view) : camera && clampCamera(camera, view)
  if (block !== undefined && wall !== undefined) {
    const isThere = asked !== undefined && fitsBesideDetails(asked, view, measureWork(state, block))
    return isThere ? asked : frameWork(state, block, asked?.zoom)
  }
  return asked ?? (wall && agent !== undefined ? frameAgent(wall, agent, view) : initialCamera)
}

/** The parts of the address of a state. */
export function toPlace(state: State): Place {
  const { camera, initialCamera, pinned, agent, at, wall } = state
  const owner = agent === undefined ? undefined : wall?.agents[agent]
  const work = findOpenWork(state)
  return {
    camera: isSameCamera(camera, initialCamera) ? undefined : camera,
    block: work.length > 1 ? work[0] : pinned,
    work: work.length > 1,
    agent: owner && String(owner.id),
    at,
  }
}

/** The parts of the address that is now in the address bar. */
export const readAddressBar = (): Place => ({
  ...readAddress(location.search, location.hash),
  embedded: new URLSearchParams(location.search).has('embed'),
})

/**
 * The message for a link without an existing target; `undefined` if the target exists, or the wall is not known yet.
 */
export function describeDeadLink({ wall }: State, search: string): string | undefined {
  const query = new URLSearchParams(search)
  const { block, work, agent } = readAddress(search, '')
  if (wall === undefined) return undefined
  // The message repeats no text from the link, because the link's author could otherwise choose what the wall says.
  if (agent !== undefined && findAgent(wall, agent) === undefined) return 'The agent in this link is not on this wall.'
  const named = query.get('block') ?? query.get('work')
  if (named !== null && block === undefined)
    return 'The block in this link is not on this wall. Blocks run from 0,0 to 159,89.'
  if (work && block !== undefined && !wall.claims.has(block)) return `Block ${formatCoord(block)} is not sold yet.`
  return undefined
}

/** The query and fragment of a link to a state. */
export const buildAddress = (state: State, search: string): string => writeAddress(toPlace(state), state.view, search)

/**
 * The data of an entry in the browser's history: the number of layers open in it, and the number that were open in the
 * page's first entry.
 */
type Entry = { readonly layers: number; readonly first: number }

/**
 * Each opened layer adds an entry to the browser's history, and a step back closes that layer; other changes replace
 * the address. If an entry has more layers than are open, or this page did not write it, `goTo` shows its address.
 * Returns a function to call after each change of the state.
 */
export function syncAddressBar(
  state: () => State,
  dismiss: () => void,
  goTo: (place: Place, keepsCamera: boolean) => void,
) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let restoring = false
  let leaving = false // our own step back has begun; the address is written once it has ended
  const formatAddress = () => `${location.pathname}${buildAddress(state(), location.search)}`
  const readEntry = (): Entry | undefined => (typeof history.state?.layers === 'number' ? history.state : undefined)
  const replaceEntry = (layers: number, to: string): Entry => {
    const kept = { layers, first: Math.min(layers, readEntry()?.first ?? layers) }
    // The entry is replaced, not pushed, because moving the wall must not fill the history.
    history.replaceState(kept, '', to)
    return kept
  }
  const scheduleWrite = () => {
    timer = setTimeout(() => replaceEntry(countLayers(state()), formatAddress()), REST_MS)
  }
  const writeState = (before: State) => {
    const layers = countLayers(state())
    const { layers: known, first } = readEntry() ?? replaceEntry(countLayers(before), location.href)
    for (let next = known + 1; next <= layers; next++) history.pushState({ layers: next, first }, '', formatAddress())
    const back = known - Math.max(layers, first)
    leaving = back > 0
    if (leaving) history.go(-back)
    else scheduleWrite()
  }
  const restoreState = (known: Entry | undefined) => {
    restoring = true
    if (known === undefined || known.layers > countLayers(state())) goTo(readAddressBar(), known !== undefined)
    else while (countLayers(state()) > known.layers) dismiss()
    restoring = false
    replaceEntry(countLayers(state()), formatAddress())
  }
  window.addEventListener('popstate', () => {
    clearTimeout(timer)
    if (!leaving) return restoreState(readEntry())
    leaving = false
    writeState(state())
  })
  return (before: State): void => {
    clearTimeout(timer)
    if (!restoring && !leaving) writeState(before)
  }
}

export type Place = {
  readonly camera: Camera | 'all' | undefined // the opening view if undefined
  readonly block: BlockIndex | undefined // the block whose details are open
  readonly work?: boolean // whether the block stands for the artwork it is part of
  readonly agent: string | undefined // an agent's number or wallet, as in the address
  readonly at: number | undefined // Unix milliseconds of the shown moment; now if undefined
  readonly embedded?: boolean // whether the page is shown in a frame
}

const number = '(\\d{1,4}(?:\\.\\d{1,6})?)'
const cameraPattern = new RegExp(`^#${number},${number},${number}$`)
const WHOLE = '#all'
const momentPattern = /^\d{1,15}$/

/** Parses an address; a malformed part is ignored. */
export function readAddress(search: string, hash: string): Place {
  const query = new URLSearchParams(search)
  const at = query.get('at') ?? ''
  return {
    camera: hash === WHOLE ? 'all' : readCamera(hash),
    block: parseCoord(query.get('block') ?? query.get('work') ?? ''),
    work: query.has('work') && !query.has('block'),
    agent: query.get('agent') ?? undefined,
    at: momentPattern.test(at) ? Number(at) : undefined,
  }
}

function readCamera(hash: string): Camera | undefined {
  // Some messengers escape the commas in a link.
  const [x, y, zoom] = (cameraPattern.exec(hash.replaceAll(/%2c/gi, ',')) ?? []).slice(1).map(Number)
  return x === undefined || y === undefined || !zoom ? undefined : { x, y, zoom }
}

/**
 * Writes the query and fragment of an address; keeps other parameters of `search`. If `camera` is undefined, there is
 * no fragment.
 */
export function writeAddress({ camera, block, work, agent, at }: Place, view: View, search: string): string {
  const query = new URLSearchParams(search)
  const coord = block === undefined ? undefined : formatCoord(block)
  const entries = { block: work ? undefined : coord, work: work ? coord : undefined, agent, at: at?.toString() }
  for (const [name, value] of Object.entries(entries)) {
    if (value === undefined) query.delete(name)
    else query.set(name, value)
  }
  // A comma is allowed in a query and reads better than its escape.
  const text = query.toString().replaceAll('%2C', ',')
  return `${text && '?'}${text}${formatFragment(camera, view)}`
}

function formatFragment(camera: Place['camera'], view: View): string {
  if (camera === undefined) return ''
  return camera === 'all' || isFitted(camera, view) ? WHOLE : `#${formatCamera(camera)}`
}

const formatCamera = ({ x, y, zoom }: Camera) => `${roundTo(x, 1)},${roundTo(y, 1)},${roundTo(zoom, 3)}`

const roundTo = (value: number, digits: number) => Number(value.toFixed(digits))
