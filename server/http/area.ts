/** `/areas/{area}`: what an area is, how it looks, and its owner's brush. */

import { parseArea, type Area } from '../../shared/area.ts'
import { AreaImageQuery } from '../../shared/contract/area.ts'
import { invalidArea } from '../domain/purchase/refusals.ts'
import { editArea } from '../wall/edit-area.ts'
import type { EditDeps } from '../wall/edit-block.ts'
import type { TakenBlocks } from '../wall/open-blocks.ts'
import { readArea } from '../wall/read-area.ts'
import type { Offer } from '../x402/terms.ts'
import { inTurn, readInTurn, signedBy } from './clients.ts'
import { paramsReader } from './params.ts'
import { respondRegion, type PictureDeps } from './pictures.ts'
import { refuse } from './refuse.ts'
import { decodePercent, pathOf } from './request-url.ts'
import { NO_STORE, respondJson } from './respond.ts'
import { readOnly, type Handler, type Route } from './route.ts'
import { readAreaEdit } from './signed-body.ts'

/** What areas need. */
export type AreaPages = Omit<PictureDeps, 'pictures'> & {
  readonly taken: TakenBlocks
  readonly offer: Pick<Offer, 'terms'>
  readonly editing: EditDeps
}

const PREFIX = '/areas/'

const PNG_END = '.png'

/** What a signed change of an area may take. */
const EDIT_MAX_BYTES = 128 * 1024

/** The routes. That of the picture comes first: the other would take it for an area's name. */
export const areaPages = (deps: AreaPages): Route[] => [
  { path: `${PREFIX}:area${PNG_END}`, methods: readOnly(picture(deps)) },
  {
    path: `${PREFIX}:area`,
    methods: { ...readOnly(inTurn(deps.clients, 'searches', read(deps))), PUT: signedBy(deps.clients, repaint(deps)) },
  },
]

function read(deps: AreaPages): Handler {
  return async (request) => {
    const area = areaOf(request)
    return area === undefined ? refuse(invalidArea()) : respondJson(200, await readArea(deps, area), NO_STORE)
  }
}

const readScale = paramsReader(AreaImageQuery, { scale: 'invalid_region' })

function picture(deps: AreaPages): Handler {
  return async (request) => {
    const area = areaOf(request, PNG_END)
    if (area === undefined) return refuse(invalidArea())
    const query = readScale(request.url)
    if ('code' in query) return refuse(query)
    const { col, row, w, h } = area
    return await respondRegion(deps, request, { col, row, cols: w, rows: h, scale: query.scale })
  }
}

function repaint({ editing, clients }: AreaPages): Handler {
  return async (request) => {
    const sent = await readInTurn(clients, request, { maxBytes: EDIT_MAX_BYTES })
    if ('failure' in sent) return refuse(sent.failure, { Connection: 'close' })
    const body = readAreaEdit(sent.value)
    if ('code' in body) return refuse(body)
    const area = areaOf(request)
    if (area === undefined) return refuse(invalidArea())
    const result = await editArea(editing, area, body, clients.addressOf(request))
    return 'code' in result ? refuse(result) : respondJson(200, result, NO_STORE)
  }
}

/** The area that the last part of the path names, but for its `ending`. */
function areaOf({ url }: Request, ending = ''): Area | undefined {
  const path = pathOf(url)
  return parseArea(decodePercent(path.slice(PREFIX.length, path.length - ending.length)) ?? '')
}
