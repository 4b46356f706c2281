/** What is free and spares an agent mistakes: trying out, finding room, signing, and one's own state. */

import { TypeCompiler } from '@sinclair/typebox/compiler'
import { isAddress } from '../../shared/address.ts'
import { PreviewBody } from '../../shared/contract/preview.ts'
import { SignQuery } from '../../shared/contract/sign.ts'
import { SpaceQuery, type Spaces } from '../../shared/contract/space.ts'
import { WalletQuery } from '../../shared/contract/wallet.ts'
import { parseCoord } from '../../shared/wall.ts'
import { failure, type Failure } from '../domain/failure.ts'
import { LISTING_KEYS, type Said } from '../domain/purchase/listing.ts'
import type { Address } from '../domain/purchase/payment.ts'
import { invalidCoordinate } from '../domain/purchase/refusals.ts'
import { rules } from '../domain/wall/field-rules.ts'
import { readTarget } from '../purchase/area-order.ts'
import type { FindSpace } from '../wall/find-space.ts'
import { myWall, type MyWallDeps } from '../wall/my-wall.ts'
import { previewBlock, type PreviewDeps } from '../wall/preview-block.ts'
import { SIGNING_FLAWS, signingMessage, type SigningHelp } from '../wall/signing-message.ts'
import { inTurn, readInTurn, withinBudget, type Clients } from './clients.ts'
import { paramsReader } from './params.ts'
import { refuse } from './refuse.ts'
import { decodePercent, pathOf } from './request-url.ts'
import { NO_STORE, respond, respondJson } from './respond.ts'
import { readOnly, type Handler, type Route } from './route.ts'

/** What helping needs. */
export type ToolsDeps = PreviewDeps &
  MyWallDeps &
  Omit<SigningHelp, 'baseUrl'> & {
    readonly findSpace: FindSpace
    readonly clients: Clients
  }

const AGENTS_PREFIX = '/api/agents/'

/** The routes. That of wallets comes after `/api/agents/me`, which it would take for one. */
export function toolsRoutes(deps: ToolsDeps): Route[] {
  const signing = { ...deps, baseUrl: deps.offer.baseUrl }
  const searched = (handler: Handler) => readOnly(inTurn(deps.clients, 'searches', handler))
  return [
    { path: '/api/preview', methods: { POST: withinBudget(deps.clients, 'previews', preview(deps)) } },
    { path: '/api/space', methods: searched(space(deps)) },
    { path: '/api/sign', methods: searched(sign(signing)) },
    { path: `${AGENTS_PREFIX}:wallet`, methods: searched(wallet(deps)) },
  ]
}

const previewCheck = TypeCompiler.Compile(PreviewBody)

function preview(deps: PreviewDeps & { readonly clients: Clients }): Handler {
  return async (request) => {
    const read = await readInTurn(deps.clients, request, { maxBytes: PREVIEW_MAX_BYTES })
    if ('failure' in read) return refuse(read.failure, { Connection: 'close' })
    const { value } = read
    if (!previewCheck.Check(value)) return refuse(failure('invalid_body', PREVIEW_SHAPE))
    const { coord, w = 1, h = 1, pixels } = value
    const target = readTarget(coord, w, h)
    if (typeof target === 'object') return refuse(target)
    const listing = new Map(
      LISTING_KEYS.flatMap((key): Array<readonly [typeof key, Said]> => {
        const text = value[key]
        return text === undefined ? [] : [[key, { text }]]
      }),
    )
    return respondJson(
      200,
      await previewBlock(deps, target, { listing, pixels: pixels === undefined ? pixels : { text: pixels } }),
      NO_STORE,
    )
  }
}

const PREVIEW_SHAPE =
  'Send a JSON object of coord ("next" or "col,row"), for an area w and h (integers), and any of name, framework, message, link, painter and px or pixels, all of them strings; no other fields.'

/** The pixels of the largest area, and what is said of it. */
const PREVIEW_MAX_BYTES = 64 * 1024

const readSpace = paramsReader(SpaceQuery, {
  w: 'invalid_size',
  h: 'invalid_size',
  near: 'invalid_coordinate',
  limit: 'invalid_limit',
})

function space({ findSpace }: ToolsDeps): Handler {
  return async ({ url }) => {
    const query = readSpace(url)
    if ('code' in query) return refuse(query)
    const near = query.near === undefined ? undefined : parseCoord(query.near)
    if (query.near !== undefined && near === undefined) return refuse(invalidCoordinate())
    return respond(200, 'application/json', textOfSpaces(await findSpace({ ...query, near })), NO_STORE)
  }
}

// Kept with what was found, which is the same for as long as nothing is taken.
const spaceTexts = new WeakMap<Spaces, Uint8Array<ArrayBuffer>>()

function textOfSpaces(spaces: Spaces): Uint8Array<ArrayBuffer> {
  const text = spaceTexts.get(spaces) ?? new TextEncoder().encode(JSON.stringify(spaces))
  spaceTexts.set(spaces, text)
  return text
}

const readSign = paramsReader(SignQuery, {
  kind: 'invalid_option',
  ...SIGNING_FLAWS,
  clear: 'invalid_option',
  ts: 'invalid_option',
})

function sign(help: SigningHelp): Handler {
  return async ({ url }) => {
    const query = readSign(url)
    if ('code' in query) return refuse(query)
    const signing = await signingMessage(help, query)
    return 'code' in signing ? refuse(signing) : respondJson(200, signing, NO_STORE)
  }
}

const readPage = paramsReader(WalletQuery, { after: 'invalid_after', limit: 'invalid_limit' })

function wallet(deps: MyWallDeps): Handler {
  return async ({ url }) => {
    const address = decodePercent(pathOf(url).slice(AGENTS_PREFIX.length)) ?? ''
    if (!isAddress(address)) return refuse(invalidWallet())
    const page = readPage(url)
    if ('code' in page) return refuse(page)
    const standing = await myWall(deps, address.toLowerCase() as Address, page)
    return 'code' in standing ? refuse(standing) : respondJson(200, standing, NO_STORE)
  }
}

const invalidWallet = (): Failure => failure('invalid_wallet', `A wallet ${rules.wallet}.`)
