/** Routes of pictures: the wall or a card of it as PNG, and the conversion of pictures to the palette. */

import { Elysia } from 'elysia'
import { CardQuery, PaintedBlocks, PixelsQuery, RegionQuery } from '../../shared/contract/picture.ts'
import { parseCoord } from '../../shared/wall.ts'
import { documentOperation, drawing, type OperationDocs } from '../discovery/openapi/operation.ts'
import { createFailure, isFailure, type Failure } from '../domain/failure.ts'
import type { CardSubject } from '../domain/picture/card.ts'
import type { SentPicture } from '../domain/picture/picture.ts'
import { createInvalidCoordinateFailure } from '../domain/purchase/refusals.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { Pictures } from '../ports.ts'
import { convertImageToPixels } from '../wall/image-to-pixels.ts'
import type { CardImages } from '../wall/wall-image.ts'
import { respondImage, respondRegion, type RegionDeps } from './answer/image-response.ts'
import { CLOSE_CONNECTION, refuse } from './answer/refuse.ts'
import { NO_STORE, respondJson } from './answer/respond.ts'
import { readBody, type BodyLimits } from './request/body.ts'
import type { Uploads } from './request/clients.ts'
import { createQueryHandler } from './request/query.ts'
import { Refused } from './request/refused.ts'

export type PictureDeps = RegionDeps & {
  readonly cards: CardImages
  readonly pictures: Pictures
  readonly readUpload: Uploads
}

/** Makes the routes. Pictures of blocks and areas are served by the routes of blocks and areas. */
export function createPictureRoutes(deps: PictureDeps) {
  const { view, cards, clients } = deps
  return new Elysia({ name: 'pictures' })
    .post(
      '/api/pixels',
      createQueryHandler(PixelsQuery, (query, request) => respondPixels(deps, request, query)),
      {
        transform: createUploadHook(deps),
        parse: 'none',
        ...documentOperation(DOCS.paintPixels),
      },
    )
    .get(
      '/wall.png',
      createQueryHandler(RegionQuery, (query, request) => respondRegion(deps, request, query)),
      documentOperation(DOCS.drawWall),
    )
    .get(
      '/card.png',
      createQueryHandler(CardQuery, async (query, request) => {
        const subject = findSubject(query, view)
        if (isFailure(subject)) return refuse(subject)
        const shown = Object.values(subject).join('-')
        return await respondImage(request, { view, shown, draw: () => cards.draw(subject), clients })
      }),
      documentOperation(DOCS.drawCard),
    )
}

function findSubject({ block, work, agent }: CardQuery, view: WallView): CardSubject | Failure {
  if ([block, work, agent].filter((given) => given !== undefined).length > 1)
    return createFailure('invalid_option', 'Give only one of block, work and agent.')
  if (agent !== undefined) return { kind: 'agent', agent }
  const coord = block ?? work
  if (coord === undefined) return { kind: 'wall' }
  const index = parseCoord(coord)
  if (index === undefined) return createInvalidCoordinateFailure()
  // An open block has no artwork yet.
  return { kind: work !== undefined && view.claimed.has(index) ? 'work' : 'block', block: index }
}

function createUploadHook({ clients: { limits, getClientAddress } }: PictureDeps) {
  return async ({ request }: { readonly request: Request }): Promise<void> => {
    const beyond = limits.take('uploads', getClientAddress(request))
    if (beyond !== undefined) throw new Refused(beyond)
  }
}

async function respondPixels(
  { pictures, readUpload, clients }: PictureDeps,
  request: Request,
  query: PixelsQuery,
): Promise<Response> {
  const picture = await readUpload(request, (limits) => readPicture(request, query, limits))
  if (isFailure(picture)) return refuse(picture, CLOSE_CONNECTION)
  const background = `#${query.background.replace('#', '').toLowerCase()}`
  const { limits, getClientAddress } = clients
  const painted = await convertImageToPixels({ pictures, limits }, getClientAddress(request), picture, {
    ...query,
    background,
  })
  return isFailure(painted) ? refuse(painted) : respondJson(200, painted, NO_STORE)
}

async function readPicture(
  request: Request,
  { width, height }: PixelsQuery,
  limits: BodyLimits,
): Promise<SentPicture | Failure> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  const isRaw = type === 'application/octet-stream'
  if (!isRaw && type !== 'image/png' && type !== 'image/jpeg') return createFailure('invalid_body', PICTURE_TYPES)
  if (isRaw && (width === undefined || height === undefined)) return createFailure('invalid_size', RAW_SIZE)
  const bytes = await readBody(request, limits)
  if (isFailure(bytes)) return bytes
  return width !== undefined && height !== undefined && isRaw
    ? { kind: 'raw', bytes, width, height }
    : { kind: 'file', bytes }
}

const PICTURE_TYPES =
  'Content-Type must be image/png or image/jpeg, or application/octet-stream for raw RGB or RGBA bytes.'

const RAW_SIZE = 'For raw bytes, pass width and height in pixels.'

const DOCS = {
  paintPixels: {
    id: 'paintPixels',
    summary: 'Turn a picture into px for blocks',
    description:
      'Free. Send a PNG or JPEG, or raw RGB or RGBA bytes with width and height, of at most 4 MiB and 8.29 million pixels (3840 x 2160). The picture is scaled to w x h blocks in linear light, and each pixel gets the nearest of the 240 colours (OKLab), with dithering on request. Nothing is stored.',
    uploads: ['image/png', 'image/jpeg', 'application/octet-stream'],
    answers: [PaintedBlocks],
    codes: ['invalid_body', 'invalid_image', 'invalid_size', 'invalid_option', 'body_too_large', ...drawing],
  },
  drawWall: {
    id: 'drawWall',
    summary: 'Get the wall, or a part of it, as a picture',
    description:
      'An indexed PNG of the 240 colours, up to 5.76 million pixels. Unsold blocks are dark with a dot in the corner; sold ones without a picture are grey with a frame. The picture may be up to two seconds old.',
    answers: [],
    media: 'image/png',
    revalidates: true,
    codes: ['invalid_region', ...drawing],
  },
  drawCard: {
    id: 'drawCard',
    summary: 'Get a link preview card of the wall, a block or an agent’s blocks',
    description:
      'An indexed PNG of 1200 x 630 pixels, for previews of links to the page: the whole wall; an artwork; a block, enlarged, next to its position on the wall; or an agent’s blocks with all others dimmed. The card may be some seconds old.',
    answers: [],
    media: 'image/png',
    revalidates: true,
    codes: ['invalid_coordinate', 'invalid_option', 'not_found', ...drawing],
  },
} satisfies Record<string, OperationDocs>
