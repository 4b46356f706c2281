/** The wall, or a part of it, as a PNG. */

import pLimit from 'p-limit'
import type { RegionQuery } from '../../shared/contract/picture.ts'
import { keptOrMade, lru } from '../../shared/lru.ts'
import { BLOCK_SIZE, COLS, ROWS } from '../../shared/wall.ts'
import { failure, type Failure } from '../domain/failure.ts'
import { drawRegion, type Region } from '../domain/picture/wall-picture.ts'
import { busy } from '../domain/purchase/refusals.ts'
import type { LogNumber } from '../domain/wall/log.ts'
import { stateOf, type WallView } from '../domain/wall/wall-view.ts'
import type { Pictures } from '../ports.ts'

/** What drawing needs. */
export type ImageDeps = { readonly view: WallView; readonly pictures: Pictures }

/** A picture of the wall in a state, named as by `stateOf`. */
export type WallImage = { readonly state: string; readonly png: Uint8Array<ArrayBuffer> }

export type WallImages = { draw(query: RegionQuery): Promise<WallImage | Failure> }

/** The whole wall at twice its size, or any part of it with as many pixels. */
export const IMAGE_PIXELS_MAX = 4 * COLS * ROWS * BLOCK_SIZE ** 2

// Enough for those that many ask for, and little enough to hold.
const KEPT_MAX = 16

/** Draws pictures of the wall. */
export function wallImages({ view, pictures }: ImageDeps): WallImages {
  const images = imageCache(view, KEPT_MAX)
  return {
    async draw(query) {
      const region = regionOf(query)
      if ('code' in region) return region
      const key = Object.values({ ...region, scale: query.scale }).join()
      return await images(key, () => pictures.encode(drawRegion(view, region), query.scale))
    },
  }
}

const AT_ONCE = 2
const WAITING_MAX = 32

/** A picture under its key: a kept one, or one that `make` draws now; refused while too many wait. */
export type ImageCache = (key: string, make: () => Promise<WallImage['png']>) => Promise<WallImage | Failure>

/** Has a few pictures drawn at once, and keeps the latest `keptMax` until the wall changes. */
export function imageCache(view: WallView, keptMax: number): ImageCache {
  const limit = pLimit(AT_ONCE)
  const kept = lru<string, Promise<WallImage>>(keptMax)
  let keptNumber: LogNumber = -1
  return async (key, make) => {
    if (keptNumber !== view.number) kept.clear()
    keptNumber = view.number
    if (kept.get(key) === undefined && limit.pendingCount >= WAITING_MAX) return busy()
    return await keptOrMade(kept, key, () => limit(async () => ({ state: stateOf(view), png: await make() })))
  }
}

/** The region a query asks for, which must lie on the wall and not grow too large. */
function regionOf({ col, row, cols = COLS - col, rows = ROWS - row, scale }: RegionQuery): Region | Failure {
  if (col + cols > COLS || row + rows > ROWS)
    return failure('invalid_region', `The region leaves the wall, which has ${COLS} x ${ROWS} blocks.`)
  const pixels = cols * rows * (BLOCK_SIZE * scale) ** 2
  if (pixels > IMAGE_PIXELS_MAX)
    return failure(
      'invalid_region',
      `The picture would have ${pixels} pixels, over ${IMAGE_PIXELS_MAX}: ask for fewer blocks or a smaller scale.`,
    )
  return { col, row, cols, rows }
}
