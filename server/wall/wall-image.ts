/** Draws the wall, or a part of it, as a PNG. */

import pLimit from 'p-limit'
import type { RegionQuery } from '../../shared/contract/picture.ts'
import { getOrMake, createLru } from '../../shared/lru.ts'
import { BLOCK_SIZE, COLS, ROWS } from '../../shared/wall.ts'
import { createFailure, isFailure, type Failure } from '../domain/failure.ts'
import { type CardSubject, drawCard, chooseWallSide } from '../domain/picture/card.ts'
import type { Bitmap } from '../domain/picture/picture.ts'
import { type Region, WHOLE_WALL, drawRegion } from '../domain/picture/wall-picture.ts'
import { createPicturesBusyFailure } from '../domain/purchase/refusals.ts'
import type { LogNumber } from '../domain/wall/log.ts'
import { type WallView, formatState } from '../domain/wall/wall-view.ts'
import type { Pictures } from '../ports.ts'
import type { Offer } from '../x402/terms.ts'

type ImageDeps = { readonly view: WallView; readonly pictures: Pictures }

/** A picture of the wall. `state` identifies the state of the wall in the picture; see `formatState`. */
export type WallImage = { readonly state: string; readonly png: Uint8Array<ArrayBuffer> }

export type WallImages = { draw(query: RegionQuery): Promise<WallImage | Failure> }

/** The largest picture: the whole wall at twice its size, or a part enlarged to as many pixels. */
const IMAGE_PIXELS_MAX = 4 * COLS * ROWS * BLOCK_SIZE ** 2

// Enough for frequently requested pictures, and small enough to keep in memory.
const IMAGES_MAX = 16

/** Draws pictures of the wall. */
export function createWallImages({ view, pictures }: ImageDeps): WallImages {
  const getImage = createImageCache(view, IMAGES_MAX)
  return {
    async draw(query) {
      const region = toRegion(query)
      if (isFailure(region)) return region
      const key = Object.values({ ...region, scale: query.scale }).join()
      return await getImage(key, () => pictures.encode(drawRegion(view, region), query.scale))
    },
  }
}

const AT_ONCE = 2
const WAITING_MAX = 32

/** A picture by its key: a cached one, or one that `make` draws now; refused while too many drawings wait. */
type ImageCache = (key: string, make: () => Promise<WallImage['png']>) => Promise<WallImage | Failure>

/** Draws a few pictures at a time, and caches the `keptMax` most recently requested ones until the wall changes. */
function createImageCache(view: WallView, keptMax: number): ImageCache {
  const limit = pLimit(AT_ONCE)
  const kept = createLru<string, Promise<WallImage>>(keptMax)
  let keptNumber: LogNumber = -1
  return async (key, make) => {
    if (keptNumber !== view.number) kept.clear()
    keptNumber = view.number
    if (kept.get(key) === undefined && limit.pendingCount >= WAITING_MAX) return createPicturesBusyFailure()
    return await getOrMake(kept, key, () => limit(async () => ({ state: formatState(view), png: await make() })))
  }
}

/** The region that a query requests; it must be on the wall and not too large. */
function toRegion({ col, row, cols = COLS - col, rows = ROWS - row, scale }: RegionQuery): Region | Failure {
  if (col + cols > COLS || row + rows > ROWS)
    return createFailure('invalid_region', `The region extends beyond the wall, which has ${COLS} x ${ROWS} blocks.`)
  const pixels = cols * rows * (BLOCK_SIZE * scale) ** 2
  if (pixels > IMAGE_PIXELS_MAX)
    return createFailure(
      'invalid_region',
      `The picture would have ${pixels} pixels, more than ${IMAGE_PIXELS_MAX}: request fewer blocks or a smaller scale.`,
    )
  return { col, row, cols, rows }
}

export type CardImages = {
  /** The card of a subject; refused for an unknown agent, and while too many drawings wait. */
  draw(subject: CardSubject): Promise<WallImage | Failure>
}

// A card takes some 50 kB.
const CARDS_MAX = 64

// Cards show the whole wall in two sizes.
const SMALL_WALLS_MAX = 2

/** Draws cards. All cards share the scaled-down pictures of the wall, until the wall changes. */
export function createCardImages({
  view,
  pictures,
  offer,
}: ImageDeps & { readonly offer: Pick<Offer, 'title' | 'terms'> }): CardImages {
  const words = { title: offer.title, price: offer.terms.amount }
  const getCard = createImageCache(view, CARDS_MAX)
  const smallWalls = createLru<string, Promise<Bitmap>>(SMALL_WALLS_MAX)

  const renderSmallWall = (side: number) =>
    getOrMake(smallWalls, `${view.number} ${side}`, () =>
      pictures.shrink(drawRegion(view, WHOLE_WALL), COLS * side, ROWS * side),
    )
  return {
    async draw(subject) {
      if (subject.kind === 'agent' && view.agents[subject.agent - 1] === undefined)
        return createFailure('not_found', 'No agent has this id. The canvas read lists all agents.')
      return await getCard(Object.values(subject).join(), async () => {
        const side = chooseWallSide(view, subject)
        const wall = side === undefined ? undefined : await renderSmallWall(side)
        return await pictures.encode(drawCard(view, words, subject, wall))
      })
    },
  }
}
