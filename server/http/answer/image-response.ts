/** Responses with pictures that are drawn from the current wall. */

import type { BlockImageQuery, RegionQuery } from '../../../shared/contract/picture.ts'
import { BLOCK_SIZE, COLS, HEIGHT, ROWS, WIDTH } from '../../../shared/wall.ts'
import { isFailure, type Failure } from '../../domain/failure.ts'
import type { Region } from '../../domain/picture/wall-picture.ts'
import { formatState, type WallView } from '../../domain/wall/wall-view.ts'
import type { WallImage, WallImages } from '../../wall/wall-image.ts'
import { refuseOverBudget, type Clients } from '../request/clients.ts'
import { matchesEtag } from '../request/negotiate.ts'
import { createParamsReader } from '../request/query.ts'
import { refuse } from './refuse.ts'
import { CACHED_BY_PROXIES, respond, respondUnchanged } from './respond.ts'

/** A picture of the view. `shown` identifies it among the pictures of one state of the wall. */
export type Drawn = {
  readonly view: WallView
  readonly shown: string
  readonly draw: () => Promise<WallImage | Failure>
  readonly clients: Clients
  readonly cost?: number // the cost, taken from the client's budget for pictures
}

/** Returns the picture, or a 304 if the client has it. */
export async function respondImage(request: Request, { view, shown, draw, clients, cost }: Drawn): Promise<Response> {
  const createHeaders = (state: WallImage['state']) => ({
    ETag: `"${state}-${shown}"`,
    'Cache-Control': CACHED_BY_PROXIES,
  })
  const now = createHeaders(formatState(view))
  if (matchesEtag(request.headers.get('if-none-match'), now.ETag)) return respondUnchanged(now)
  const beyond = refuseOverBudget(clients, 'pictures', request, cost)
  if (beyond !== undefined) return beyond
  const busy = await clients.queue.waitForReadTurn(clients.getClientAddress(request))
  if (busy !== undefined) return refuse(busy)
  const image = await draw()
  if (isFailure(image)) return refuse(image)
  return respond(200, 'image/png', image.png, createHeaders(image.state))
}

export type RegionDeps = { readonly view: WallView; readonly images: WallImages; readonly clients: Clients }

/** Returns a part of the wall as a picture. */
export async function respondRegion(
  { view, images, clients }: RegionDeps,
  request: Request,
  query: RegionQuery,
): Promise<Response> {
  const { col, row, cols, rows, scale } = query
  const shown = [col, row, cols, rows, scale].join('-')
  return await respondImage(request, {
    view,
    shown,
    draw: () => images.draw(query),
    clients,
    cost: computeImageCost(query),
  })
}

/**
 * Creates a function that returns the picture of a block or an area at the scale in the query, or refuses an invalid
 * place or scale.
 */
export function createPlaceResponder(deps: RegionDeps, schema: typeof BlockImageQuery) {
  const readScale = createParamsReader(schema)
  return async (request: Request, place: Region | Failure): Promise<Response> => {
    if (isFailure(place)) return refuse(place)
    const query = readScale(request.url)
    return isFailure(query) ? refuse(query) : await respondRegion(deps, request, { ...place, ...query })
  }
}

// The pixels of the whole wall at scale 1.
const PIXELS_PER_COST = WIDTH * HEIGHT

/** The cost of a picture: what it takes from the client's budget for pictures. */
const computeImageCost = ({ col, row, cols = COLS - col, rows = ROWS - row, scale }: RegionQuery) =>
  Math.min(4, Math.max(1, Math.ceil((cols * rows * (BLOCK_SIZE * scale) ** 2) / PIXELS_PER_COST)))
