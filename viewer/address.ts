/** The page's address: `?work=80,45&agent=3&at=1760000000000#x,y,zoom` or `#all`, so that a link shows what its sender saw. */

import { coordOf, parseCoord, type BlockIndex } from '../shared/wall.ts'
import { isFitted, type Camera, type View } from './camera/camera.ts'

export type Place = {
  readonly camera: Camera | 'all' | undefined // what is sold when undefined
  readonly block: BlockIndex | undefined // whose label is open
  readonly work?: boolean // whether the block stands for the work it is part of
  readonly agent: string | undefined // an agent's number or wallet, as it stands in the address
  readonly at: number | undefined // Unix milliseconds of the moment shown; now when undefined
  readonly embedded?: boolean // whether the page is shown in a frame
}

const number = '(\\d{1,4}(?:\\.\\d{1,6})?)'
const cameraPattern = new RegExp(`^#${number},${number},${number}$`)
const WHOLE = '#all'
const momentPattern = /^\d{1,15}$/

/** Reads an address; a malformed part is ignored. */
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
  const [x, y, zoom] = (cameraPattern.exec(decodeURIComponentOr(hash)) ?? []).slice(1).map(Number)
  return x === undefined || y === undefined || !zoom ? undefined : { x, y, zoom }
}

// Some messengers escape the commas of a link.
function decodeURIComponentOr(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Writes query and fragment of a place; other parameters of `search` stay. A page that was not moved needs no fragment. */
export function writeAddress({ camera, block, work, agent, at }: Place, view: View, search: string): string {
  const query = new URLSearchParams(search)
  const coord = block === undefined ? undefined : coordOf(block)
  const entries = { block: work ? undefined : coord, work: work ? coord : undefined, agent, at: at?.toString() }
  for (const [name, value] of Object.entries(entries)) {
    if (value === undefined) query.delete(name)
    else query.set(name, value)
  }
  // A comma is allowed in a query and reads better than its escape.
  const text = query.toString().replaceAll('%2C', ',')
  return `${text && '?'}${text}${fragmentOf(camera, view)}`
}

function fragmentOf(camera: Place['camera'], view: View): string {
  if (camera === undefined) return ''
  return camera === 'all' || isFitted(camera, view) ? WHOLE : `#${cameraText(camera)}`
}

const cameraText = ({ x, y, zoom }: Camera) => `${rounded(x, 1)},${rounded(y, 1)},${rounded(zoom, 3)}`

const rounded = (value: number, digits: number) => Number(value.toFixed(digits))
