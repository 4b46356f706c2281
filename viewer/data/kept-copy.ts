/** What the browser stores for the next visit: the wall as it was shown last, and the files of the page for a visit without a connection. */

import { isBlockIndex } from '../../shared/wall.ts'
import { store, readStored } from '../appearance.ts'
import type { Claim, Wall } from '../wall/wall-model.ts'

/** The wall of an earlier visit. */
export type KeptWall = {
  readonly wall: Wall
  readonly number: number // of the newest change that it shows
  readonly at: number // when it was up to date, in Unix milliseconds
}

const DATABASE = 'pixel-wall'
const WALLS = 'walls'
// Another version of the page may store the wall in another form.
const VERSION = import.meta.url

/** The item of `localStorage` that says whether a wall is stored; index.html reads it, and then does not preload the pictures. */
const FLAG = 'kept'

const WORKER = '/offline-worker.js'
const FILES = 'last-wall'

/** The stored wall; `undefined` if there is none that this version of the page can use. */
export async function readKeptWall(): Promise<KeptWall | undefined> {
  if (readStored(FLAG) === undefined) return undefined
  try {
    const packed: PackedWall | undefined = await waitForRequest((await openWalls('readonly')).get(VERSION))
    return packed && { ...packed, wall: await unpack(packed.wall) }
  } catch {
    return undefined
  }
}

/** Stores a wall in place of the one before. */
export async function keepWall(kept: KeptWall): Promise<void> {
  const all = await openWalls('readwrite')
  all.clear()
  const packed: PackedWall = { ...kept, wall: pack(kept.wall) }
  await waitForRequest(all.put(packed, VERSION))
  store(FLAG, '1')
}

type PackedWall = Omit<KeptWall, 'wall'> & { readonly wall: ReturnType<typeof pack> }

/** A wall in few objects, because the browser stores thousands of them, or a megabyte of bytes, too slowly. Many blocks share their words. */
export function pack({ claims, texture, ...wall }: Wall) {
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

/** The wall that was packed. */
export async function unpack({
  pixels,
  blocks,
  owners,
  times,
  said,
  words,
  ...wall
}: ReturnType<typeof pack>): Promise<Wall> {
  const spoken = words.map((text): Pick<Claim, 'm' | 'l'> => JSON.parse(text))
  const claims: Wall['claims'] = new Map()
  for (const [at, i] of blocks.entries())
    if (isBlockIndex(i)) claims.set(i, { i, a: owners[at] ?? 0, t: times[at] ?? 0, ...spoken[said[at] ?? 0] })
  return { ...wall, claims, texture: new Uint8Array(await pixels.arrayBuffer()) }
}

/** Stores the files of this page. The browser has them already, so nothing is downloaded. */
export async function keepFiles(): Promise<void> {
  if (!('serviceWorker' in navigator)) return
  await navigator.serviceWorker.register(WORKER)
  const cache = await caches.open(FILES)
  const addressesOf = (kind: string) => performance.getEntriesByType(kind).map(({ name }) => new URL(name))
  const files = new Map<string, URL>()
  for (const url of addressesOf('resource')) if (url.pathname.startsWith('/assets/')) files.set(url.pathname, url)
  // Last, because it needs all the others. The page is the same for every query.
  files.set('/', addressesOf('navigation')[0] ?? new URL('/', location.href))
  for (const [path, url] of files) {
    const response = await fetch(url, { cache: 'force-cache' })
    if (response.ok) await cache.put(path, response)
  }
  for (const request of await cache.keys())
    if (!files.has(new URL(request.url).pathname)) await cache.delete(request, { ignoreVary: true })
}

let opened: Promise<IDBDatabase> | undefined

// Opened once, because a page that is being closed has no time to wait for it.
async function openWalls(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  opened ??= openDatabase()
  return (await opened).transaction(WALLS, mode).objectStore(WALLS)
}

function openDatabase(): Promise<IDBDatabase> {
  const opening = indexedDB.open(DATABASE)
  opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore(WALLS))
  return waitForRequest(opening)
}

function waitForRequest<Result>(request: IDBRequest<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  request.addEventListener('success', () => resolve(request.result))
  request.addEventListener('error', () => reject(new Error('the browser stores no wall')))
  return promise
}
