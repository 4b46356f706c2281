/** The wall of the last visit, which the browser has stored. */

import { isBlockIndex } from '../../shared/wall.ts'
import { readStored } from '../appearance.ts'
import type { Claim, Wall } from '../wall/wall-model.ts'

/** The wall of an earlier visit. */
export type KeptWall = {
  readonly wall: Wall
  readonly number: number // of the newest change that it shows
  readonly at: number // when it was up to date, in Unix milliseconds
}

const DATABASE = 'pixel-wall'
const WALLS = 'walls'
// The key of the stored wall. It differs between versions of the page, because they may store the wall in different
// forms.
export const VERSION = import.meta.url

/**
 * A wall packed into few objects, because browsers are slow to store thousands of objects, or a byte array of a
 * megabyte. Many blocks have the same texts, so each text is stored only once.
 */
export type Packed = Omit<Wall, 'claims' | 'texture'> & {
  readonly pixels: Blob
  readonly blocks: Uint16Array
  readonly owners: Uint16Array
  readonly times: Float64Array
  readonly said: Uint16Array // indices into `words`
  readonly words: readonly string[]
}

/**
 * The `localStorage` key of a flag that is set if a wall is stored; index.html then does not preload the pictures.
 */
export const FLAG = 'kept'

/** Reads the stored wall; `undefined` if there is none that this version of the page can use. */
export async function readKeptWall(): Promise<KeptWall | undefined> {
  if (readStored(FLAG) === undefined) return undefined
  try {
    const packed: PackedWall | undefined = await waitForRequest((await openWallStore('readonly')).get(VERSION))
    return packed && { ...packed, wall: await unpackWall(packed.wall) }
  } catch {
    return undefined
  }
}

export type PackedWall = Omit<KeptWall, 'wall'> & { readonly wall: Packed }

/** Restores a packed wall. */
export async function unpackWall({ pixels, blocks, owners, times, said, words, ...wall }: Packed): Promise<Wall> {
  const spoken = words.map((text): Pick<Claim, 'm' | 'l'> => JSON.parse(text))
  const claims: Wall['claims'] = new Map()
  for (const [at, i] of blocks.entries())
    if (isBlockIndex(i)) claims.set(i, { i, a: owners[at] ?? 0, t: times[at] ?? 0, ...spoken[said[at] ?? 0] })
  return { ...wall, claims, texture: new Uint8Array(await pixels.arrayBuffer()) }
}

let opened: Promise<IDBDatabase> | undefined

// Opens the database only once, because a page that is being closed has no time to wait until it is open.
export async function openWallStore(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  opened ??= openDatabase()
  return (await opened).transaction(WALLS, mode).objectStore(WALLS)
}

function openDatabase(): Promise<IDBDatabase> {
  const opening = indexedDB.open(DATABASE)
  opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore(WALLS))
  return waitForRequest(opening)
}

export function waitForRequest<Result>(request: IDBRequest<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  request.addEventListener('success', () => resolve(request.result))
  request.addEventListener('error', () => reject(new Error('the browser could not store or read the wall')))
  return promise
}
