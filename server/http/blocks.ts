/** Routes `/blocks/next` and `/blocks/{coord}`: buy, read, draw and repaint a block. */

import { Elysia } from 'elysia'
import { BlockParams, Deed, EditAnswer, ListingQuery, Receipt } from '../../shared/contract/block.ts'
import { BlockImageQuery } from '../../shared/contract/picture.ts'
import { findNearestWord } from '../../shared/text.ts'
import { getCell, parseCoord } from '../../shared/wall.ts'
import {
  anywhere,
  documentOperation,
  drawing,
  limited,
  repainting,
  listing,
  type OperationDocs,
  signed,
  signedInCodes,
  SIGNING_IN,
  unsettled,
} from '../discovery/openapi/operation.ts'
import { REPEAT } from '../domain/advice.ts'
import { createFailure, isFailure, type Failure } from '../domain/failure.ts'
import { type MaybeAsync, continueWith } from '../domain/maybe-async.ts'
import type { Region } from '../domain/picture/wall-picture.ts'
import type { Listing, PurchaseOrder } from '../domain/purchase/listing.ts'
import type { Target } from '../domain/purchase/payment.ts'
import { createInvalidCoordinateFailure } from '../domain/purchase/refusals.ts'
import { LISTING_KEYS, readListing, findUnknownField } from '../purchase/read-order.ts'
import { findBlockRefusal } from '../purchase/sell.ts'
import { type Found, readTarget } from '../wall/read-wall.ts'
import { readEdit, readEditFields } from '../wall/signed-body.ts'
import { type ChangeDeps, createBlockRepaint } from '../wall/signed-changes.ts'
import type { WallImages } from '../wall/wall-image.ts'
import type { SentPayment } from '../x402/v1.ts'
import { cloneResponse, computeEtag } from './answer/cached-response.ts'
import { createPlaceResponder } from './answer/image-response.ts'
import { respondErrorPage } from './answer/payment-page.ts'
import { demandPaymentInHtml, createDemandMaker, type MakeDemand, refuse } from './answer/refuse.ts'
import { readPayment, respondSale, type SellingDeps } from './answer/respond-sale.ts'
import { type HeaderFields, respond, respondUnchanged, VARIES_BY_PAYMENT } from './answer/respond.ts'
import { refusePicturePath } from './fallback.ts'
import { createSignedBodyHooks } from './request/clients.ts'
import { matchesEtag, prefersHtml } from './request/negotiate.ts'
import { readParams } from './request/query.ts'
import { readNameBelow, PNG_END, getQuery } from './request/request-url.ts'
import { createChangeHandler, createSignInHandler, createSignInHooks } from './sign-in.ts'

export type BlockDeps = SellingDeps & { readonly images: WallImages; readonly changing: ChangeDeps }

const PREFIX = '/blocks/'

const CHECKS = { before: refusePicturePath }

export const createBlockRoutes = (deps: BlockDeps) => {
  const answer = createBlockResponder(deps)
  const draw = createPlaceResponder(deps, BlockImageQuery)
  const { changing, clients } = deps
  const [handleChange, handleSignIn] = [createChangeHandler(deps), createSignInHandler(deps)]
  return new Elysia({ name: 'blocks' })
    .get('/blocks/next', ({ request }) => answer(request, 'next'), documentOperation(DOCS.buyNextBlock))
    .get(
      '/blocks/:coord',
      ({ request }) => {
        const name = readNameBelow(PREFIX, request.url)
        if (name.endsWith(PNG_END)) return draw(request, parseRegion(name.slice(0, -PNG_END.length)))
        return answer(request, name === 'next' ? name : parseCoord(name))
      },
      documentOperation(DOCS.getOrBuyBlock, { ending: PNG_END, docs: DOCS.drawBlock }),
    )
    .put(
      '/blocks/:coord',
      async ({ request, body }) =>
        await handleChange(request, body, await createBlockRepaint(changing, readNameBelow(PREFIX, request.url), body)),
      { ...createSignedBodyHooks(clients, readEdit, CHECKS), ...documentOperation(DOCS.editBlock) },
    )
    .post(
      '/blocks/:coord',
      async ({ request, body: { fields, requestId } }) =>
        await handleSignIn(
          request,
          requestId,
          await createBlockRepaint(changing, readNameBelow(PREFIX, request.url), fields),
        ),
      { ...createSignInHooks(clients, readEditFields, CHECKS), ...documentOperation(DOCS.repaintBlock) },
    )
}

/**
 * Responds to a request for a block or for `next` with the deed, the terms or the receipt. HEAD never buys, so it
 * ignores payments.
 */
function createBlockResponder(deps: BlockDeps) {
  const { clients } = deps
  const makeDemand = createDemandMaker(deps)
  return (request: Request, target: Target | undefined): MaybeAsync<Response> => {
    const isHead = request.method === 'HEAD'
    if (target === undefined)
      return wantsHtmlPage(request) && !isHead ? respondErrorPage(400) : refuse(createInvalidCoordinateFailure())
    const sent = isHead ? undefined : readPayment(deps, request, target)
    const answerPaid = async (paid: SentPayment): Promise<Response> => {
      if (isFailure(paid.payment)) return refuse(paid.payment)
      const refusal = await clients.admitPayment(paid.payment, clients.getClientAddress(request))
      return refusal === undefined
        ? await respondSale(deps, request, readOrder(request, target), paid)
        : refuse(refusal)
    }
    if (sent !== undefined && !isFailure(sent.payment)) return answerPaid(sent)
    return continueWith(readTarget(deps, target), (found) => {
      if (sent === undefined) return answerUnpaid(deps, makeDemand, request, target, found)
      // A request for a claimed block gets the deed even if its payment cannot be read.
      return found.kind === 'deed' ? respondDeed(request, found.deed) : answerPaid(sent)
    })
  }
}

function answerUnpaid(deps: BlockDeps, demand: MakeDemand, request: Request, target: Target, found: Found): Response {
  if (found.kind === 'deed')
    return wantsHtmlPage(request) ? redirectToWall(found.deed) : respondDeed(request, found.deed)
  if (found.kind === 'claimed' && wantsHtmlPage(request)) return respondErrorPage(410)
  const refusal = findBlockRefusal(readOrder(request, target), found)
  if (refusal !== undefined) return refuse(refusal)
  const query = getQuery(request.url)
  return wantsHtmlPage(request) ? demandPaymentInHtml(deps, target, query) : demand(target, query)
}

const readOrder = (request: Request, target: Target): PurchaseOrder => ({
  target,
  isArea: false,
  listing: readListingQuery(request.url),
})

function parseRegion(coord: string): Region | Failure {
  const block = parseCoord(coord)
  return block === undefined ? createInvalidCoordinateFailure() : { ...getCell(block), cols: 1, rows: 1 }
}

/** Whether the client prefers an HTML page, as a browser does. */
const wantsHtmlPage = (request: Request) => prefersHtml(request.headers.get('accept'))

/** Redirects a person to the block on the wall. */
const redirectToWall = ({ block }: Deed) =>
  respond(303, 'text/plain; charset=utf-8', '', {
    Location: `/?block=${block.coord}`,
    'Cache-Control': 'no-cache',
    ...VARIES_BY_PAYMENT,
  })

function respondDeed(request: Request, deed: Deed): Response {
  const { headers, response } = deedAnswers.get(deed) ?? createDeedAnswer(deed)
  return matchesEtag(request.headers.get('if-none-match'), headers.ETag)
    ? respondUnchanged(headers)
    : cloneResponse(response)
}

type DeedAnswer = { readonly headers: HeaderFields & { readonly ETag: string }; readonly response: Response }

// Making a response takes 22 us; cloning a cached one saves 8 us of that.
const deedAnswers = new WeakMap<Deed, DeedAnswer>()

function createDeedAnswer(deed: Deed): DeedAnswer {
  const body = JSON.stringify(deed)
  const headers = { 'Cache-Control': 'no-cache', ...VARIES_BY_PAYMENT, ETag: computeEtag(body) }
  const answer = { headers, response: respond(200, 'application/json', body, headers) }
  deedAnswers.set(deed, answer)
  return answer
}

const DOCS = {
  buyNextBlock: {
    id: 'buyNextBlock',
    summary: 'Buy the open block nearest the centre',
    description: `Without a payment the response is 402 with the terms; send the identical request again with a signed payment to get the receipt. You can buy this way while blocks remain. After a 503 or a lost response: ${REPEAT}`,
    query: ListingQuery,
    payable: 'always',
    answers: [Receipt],
    codes: [...listing, ...unsettled, 'wall_busy', 'sold_out', ...limited],
  },
  getOrBuyBlock: {
    id: 'getOrBuyBlock',
    summary: 'Read the deed of a claimed block, or buy an open one',
    description: `For a claimed block, the response is its deed, for free. For an open one, it is 402 with the terms; send the identical request again with a signed payment to buy the block. If several agents race for a block, one wins and the others are not charged. After a 503 or a lost response: ${REPEAT}`,
    params: BlockParams,
    query: ListingQuery,
    payable: 'sometimes',
    answers: [Deed, Receipt],
    revalidates: true,
    also: {
      303: {
        what: 'A browser that requests HTML is redirected to the claimed block on the wall, and gets errors as HTML pages.',
      },
    },
    codes: ['invalid_coordinate', ...listing, ...unsettled, 'block_taken', 'purchase_pending', ...limited],
  },
  editBlock: {
    id: 'editBlock',
    summary: 'Repaint a block you own',
    description:
      'Free. The wallet that paid signs these lines with EIP-191 personal_sign, joined by line feeds: the host name of this service, `set_pixels v2`, `block=<coord>`, `ts=<unix ms>`, then for each of pixels, message and link in this order `<field>_present=1` or `0` and `<field>=<value or empty>`. An omitted field is kept; null clears message or link.',
    params: BlockParams,
    answers: [EditAnswer],
    codes: [...signed, 'invalid_coordinate', ...repainting, ...limited],
  },
  repaintBlock: {
    id: 'repaintBlock',
    summary: 'Repaint a block you own, by signing in',
    description: `Does the same as PUT, for wallets that can pay but cannot sign text. ${SIGNING_IN}`,
    params: BlockParams,
    signsIn: true,
    answers: [EditAnswer],
    codes: [...signedInCodes, 'invalid_coordinate', ...repainting, ...anywhere],
  },
  drawBlock: {
    id: 'drawBlock',
    summary: 'Get a block as a picture',
    description: 'An indexed PNG of the block, enlarged. It may be up to two seconds old.',
    params: BlockParams,
    query: BlockImageQuery,
    answers: [],
    media: 'image/png',
    revalidates: true,
    codes: ['invalid_coordinate', 'invalid_region', ...drawing],
  },
} satisfies Record<string, OperationDocs>

// Longer than any valid listing. The query is repeated in a response header, which must stay small.
const QUERY_MAX = 4096

/** Reads a listing, or refuses the first parameter that is invalid or unknown. */
export function readListingQuery(url: string): Listing | Failure {
  const query = getQuery(url)
  if (query === '') return EMPTY
  if (query.length > QUERY_MAX) return createListingFailure(`The query is longer than ${QUERY_MAX} characters.`)
  const params = readParams(url)
  const unknownName = findUnknownField(ListingQuery, params)
  return unknownName === undefined ? readListing(params) : createListingFailure(describeUnknownParameter(unknownName))
}

const EMPTY = readListing({})

const createListingFailure = (what: string) => createFailure('invalid_listing', `${what} Nothing was charged.`)

/**
 * Unknown parameters are refused, because otherwise a misspelt parameter would leave a sold block without its text or
 * picture.
 */
function describeUnknownParameter(name: string): string {
  const known = `The parameters of a block are ${LISTING_KEYS.join(', ')}.`
  if (!namePattern.test(name)) return `The request has an unknown parameter. ${known}`
  const meant = findNearestParameter(name.toLowerCase())
  return `Unknown parameter ${name}${meant === undefined ? '.' : `; did you mean ${meant}?`} ${known}`
}

// A name that does not match is not repeated in the error message.
const namePattern = /^[A-Za-z][\w-]{0,31}$/

/** Names that other services use for the same parameters. */
const otherNames: Readonly<Record<string, string>> = {
  pixels: 'px',
  image: 'px',
  picture: 'px',
  url: 'link',
  href: 'link',
  text: 'message',
  msg: 'message',
  title: 'name',
  agent: 'name',
}

function findNearestParameter(name: string): string | undefined {
  const other = Object.hasOwn(otherNames, name) ? otherNames[name] : undefined
  if (other !== undefined) return other
  return findNearestWord(name, LISTING_KEYS)
}
