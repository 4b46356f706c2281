/** The wall as pictures, and pictures of others brought down to its colours. */

import { BlockImageQuery, PixelsQuery, RegionQuery } from '../../shared/contract/picture.ts'
import { BLOCK_SIZE, cellOf, COLS, HEIGHT, parseCoord, ROWS, WIDTH } from '../../shared/wall.ts'
import { failure, type Failure } from '../domain/failure.ts'
import type { SentPicture } from '../domain/picture/picture.ts'
import { invalidCoordinate } from '../domain/purchase/refusals.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { Pictures } from '../ports.ts'
import { imageToPixels } from '../wall/image-to-pixels.ts'
import type { WallImages } from '../wall/wall-image.ts'
import { BLOCKS_PREFIX } from './blocks.ts'
import { readBody } from './body.ts'
import { withinBudget, type Clients } from './clients.ts'
import { respondDrawn } from './image-response.ts'
import { paramsReader } from './params.ts'
import { refuse } from './refuse.ts'
import { decodePercent, pathOf } from './request-url.ts'
import { NO_STORE, respondJson } from './respond.ts'
import { readOnly, type Handler, type Route } from './route.ts'
import { UPLOAD, type Uploads } from './uploads.ts'

/** What pictures need. */
export type PictureDeps = {
  readonly view: WallView
  readonly images: WallImages
  readonly pictures: Pictures
  readonly clients: Clients
  readonly uploads: Uploads
}

const PNG_END = '.png'

/** The routes. That of a block's picture comes before the block's own, which would take it for a coordinate. */
export function pictureRoutes(deps: PictureDeps): Route[] {
  return [
    { path: '/wall.png', methods: readOnly(wallPicture(deps)) },
    { path: `${BLOCKS_PREFIX}:coord${PNG_END}`, methods: readOnly(blockPicture(deps)) },
    { path: '/api/pixels', methods: { POST: withinBudget(deps.clients, 'uploads', pixels(deps)) } },
  ]
}

const readRegion = paramsReader(RegionQuery, {
  col: 'invalid_region',
  row: 'invalid_region',
  cols: 'invalid_region',
  rows: 'invalid_region',
  scale: 'invalid_region',
})

function wallPicture(deps: PictureDeps): Handler {
  return async (request) => {
    const query = readRegion(request.url)
    return 'code' in query ? refuse(query) : await respondRegion(deps, request, query)
  }
}

const readScale = paramsReader(BlockImageQuery, { scale: 'invalid_region' })

function blockPicture(deps: PictureDeps): Handler {
  return async (request) => {
    const segment = decodePercent(pathOf(request.url).slice(BLOCKS_PREFIX.length, -PNG_END.length)) ?? ''
    const block = parseCoord(segment)
    if (block === undefined) return refuse(invalidCoordinate())
    const query = readScale(request.url)
    if ('code' in query) return refuse(query)
    return await respondRegion(deps, request, { ...cellOf(block), cols: 1, rows: 1, scale: query.scale })
  }
}

/** Answers with a part of the wall as a picture. */
export async function respondRegion(
  { view, images, clients }: Omit<PictureDeps, 'pictures'>,
  request: Request,
  query: RegionQuery,
): Promise<Response> {
  const { col, row, cols, rows, scale } = query
  const shown = [col, row, cols, rows, scale].join('-')
  return await respondDrawn(request, {
    view,
    shown,
    maxAge: 2,
    draw: () => images.draw(query),
    clients,
    cost: costOf(query),
  })
}

// As many as a picture of the wall at its own size is made of.
const PIXELS_PER_COST = WIDTH * HEIGHT

/** What a picture takes of its client's budget. */
const costOf = ({ col, row, cols = COLS - col, rows = ROWS - row, scale }: RegionQuery) =>
  Math.min(4, Math.max(1, Math.ceil((cols * rows * (BLOCK_SIZE * scale) ** 2) / PIXELS_PER_COST)))

const readPixels = paramsReader(PixelsQuery, {
  w: 'invalid_size',
  h: 'invalid_size',
  dither: 'invalid_option',
  fit: 'invalid_option',
  background: 'invalid_option',
  width: 'invalid_size',
  height: 'invalid_size',
})

function pixels({ pictures, uploads }: PictureDeps): Handler {
  return async (request) => {
    const query = readPixels(request.url)
    if ('code' in query) return refuse(query, { Connection: 'close' })
    const picture = await uploads(request, () => readPicture(request, query))
    if ('code' in picture) return refuse(picture, { Connection: 'close' })
    const background = `#${query.background.replace('#', '').toLowerCase()}`
    const painted = await imageToPixels(pictures, picture, { ...query, background })
    return 'code' in painted ? refuse(painted) : respondJson(200, painted, NO_STORE)
  }
}

async function readPicture(request: Request, { width, height }: PixelsQuery): Promise<SentPicture | Failure> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  const isRaw = type === 'application/octet-stream'
  if (!isRaw && type !== 'image/png' && type !== 'image/jpeg') return failure('invalid_body', PICTURE_TYPES)
  if (isRaw && (width === undefined || height === undefined)) return failure('invalid_size', RAW_SIZE)
  const bytes = await readBody(request, UPLOAD)
  if (!(bytes instanceof Uint8Array)) return bytes.failure
  return width !== undefined && height !== undefined && isRaw
    ? { kind: 'raw', bytes, width, height }
    : { kind: 'file', bytes }
}

const PICTURE_TYPES =
  'Content-Type must be image/png or image/jpeg, or application/octet-stream for bare RGB or RGBA bytes.'

const RAW_SIZE = 'Bare bytes need width and height, in pixels.'
