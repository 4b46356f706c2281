/**
 * Stores the content of the page for the next visit: its wall, its view, and its files for offline visits.
 */

import { storeValue } from '../appearance.ts'
import type { Wall } from '../wall/wall-model.ts'
import {
  FLAG,
  type KeptWall,
  openWallStore,
  type Packed,
  type PackedWall,
  VERSION,
  waitForRequest,
} from './kept-copy.ts'

const WORKER = '/offline-worker.js'
const FILES = 'last-wall'

// The `localStorage` key of the view, which is stored as a description and a picture in base64. index.html reads both.
const VIEW = 'view'

// The picture may be small: the site has only a few megabytes of storage, and the picture is shown for less than a
// second.
const PIXELS_MAX = 200_000
const BYTES_MAX = 300_000
const QUALITY = 0.8

/**
 * Describes the state that the view depends on besides the wall: window, theme and sold area. index.html defines this
 * function, and compares its result with the stored description.
 */
declare function describeView(): string

/** Stores the current picture of a canvas in place of the previous one. */
async function storeView(shown: HTMLCanvasElement): Promise<void> {
  const view = describeView()
  const { promise, resolve } = Promise.withResolvers<Blob | null>()
  createShrunkCopy(shown).toBlob(resolve, 'image/webp', QUALITY)
  const picture = await promise
  // A page that is being closed can no longer encode the picture, so the picture stored earlier remains.
  if (picture === null) return
  const isSmall = picture.size <= BYTES_MAX
  storeValue(VIEW, isSmall ? `${view} ${new Uint8Array(await picture.arrayBuffer()).toBase64()}` : undefined)
}

/** A copy of a canvas, scaled down to about `PIXELS_MAX` pixels if it has more. */
function createShrunkCopy(shown: HTMLCanvasElement): HTMLCanvasElement {
  const scale = Math.min(1, Math.sqrt(PIXELS_MAX / (shown.width * shown.height)))
  const [width, height] = [Math.round(shown.width * scale), Math.round(shown.height * scale)]
  const copy = Object.assign(document.createElement('canvas'), { width, height })
  const context = copy.getContext('2d')
  if (context !== null) Object.assign(context, { imageSmoothingQuality: 'high' }).drawImage(shown, 0, 0, width, height)
  return copy
}

/**
 * Stores the files once; stores the wall and the view now, and again whenever the page is hidden. `openingView` returns
 * the canvas if it shows the view that the next visit opens with. If the browser stores nothing, the next visit is like
 * a first one.
 */
export function keepCopies(toKeep: () => KeptWall | undefined, openingView: () => HTMLCanvasElement | undefined) {
  const storeCopies = async () => {
    const kept = toKeep()
    if (kept === undefined) return
    const shown = openingView()
    await Promise.all([storeWall(kept), shown && storeView(shown)])
  }
  const storeCopiesIgnoringErrors = () => void storeCopies().catch(() => {})
  void cacheFiles().catch(() => {})
  storeCopiesIgnoringErrors()
  document.addEventListener('visibilitychange', () => document.hidden && storeCopiesIgnoringErrors())
}

/** Stores a wall in place of the previous one. */
async function storeWall(kept: KeptWall): Promise<void> {
  const all = await openWallStore('readwrite')
  all.clear()
  const packed: PackedWall = { ...kept, wall: packWall(kept.wall) }
  await waitForRequest(all.put(packed, VERSION))
  storeValue(FLAG, '1')
}

/** Packs a wall into few objects, which the browser can store quickly. */
export function packWall({ claims, texture, ...wall }: Wall): Packed {
  const all = [...claims.values()]
  const words = new Map<string, number>()
  const said = all.map(({ m, l }) => {
    const text = JSON.stringify({ m, l })
    const place = words.get(text) ?? words.size
    words.set(text, place)
    return place
  })
  return {
    ...wall,
    changed: undefined,
    pixels: new Blob([texture]),
    blocks: Uint16Array.from(all, ({ i }) => i),
    owners: Uint16Array.from(all, ({ a }) => a),
    times: Float64Array.from(all, ({ t }) => t),
    said: Uint16Array.from(said),
    words: [...words.keys()],
  }
}

/** Stores the files of this page. The browser usually has them in its cache, so nothing is downloaded. */
async function cacheFiles(): Promise<void> {
  if (!('serviceWorker' in navigator)) return
  await navigator.serviceWorker.register(WORKER)
  const cache = await caches.open(FILES)
  const listAddresses = (kind: string) => performance.getEntriesByType(kind).map(({ name }) => new URL(name))
  const files = new Map<string, URL>()
  for (const url of listAddresses('resource')) if (url.pathname.startsWith('/assets/')) files.set(url.pathname, url)
  // The page is stored last, because it needs all the other files. It is stored under `/`, because it is the same for
  // every query.
  files.set('/', listAddresses('navigation')[0] ?? new URL('/', location.href))
  for (const [path, url] of files) {
    const response = await fetch(url, { cache: 'force-cache' })
    if (response.ok) await cache.put(path, response)
  }
  for (const request of await cache.keys())
    if (!files.has(new URL(request.url).pathname)) await cache.delete(request, { ignoreVary: true })
}
