/** Routes for the free tools: preview a purchase, find open space, and get a text to sign. */

import { Elysia } from 'elysia'
import { Preview, PreviewBody } from '../../shared/contract/preview.ts'
import { OrderSigning, Signing, SignQuery } from '../../shared/contract/sign.ts'
import { SpaceQuery, Spaces } from '../../shared/contract/space.ts'
import { parseCoord } from '../../shared/wall.ts'
import { documentOperation, type OperationDocs, queued } from '../discovery/openapi/operation.ts'
import { createFailure, isFailure } from '../domain/failure.ts'
import { createInvalidCoordinateFailure } from '../domain/purchase/refusals.ts'
import { createOrderSigning, readOrderToSign } from '../purchase/order-to-sign.ts'
import { readTarget } from '../purchase/read-order.ts'
import { createReader } from '../read.ts'
import type { FindSpace } from '../wall/open-blocks.ts'
import { previewBlock, type PreviewDeps } from '../wall/preview-block.ts'
import type { BudgetName } from '../wall/rate-limits.ts'
import { createSigningMessage, type SigningMessageDeps } from '../wall/signing-message.ts'
import { refuse, respondResult } from './answer/refuse.ts'
import { NO_STORE, respondJson } from './answer/respond.ts'
import { createTurnHook, createJsonBodyHooks, type Clients } from './request/clients.ts'
import { createQueryHandler } from './request/query.ts'

export type ToolsDeps = PreviewDeps &
  Omit<SigningMessageDeps, 'baseUrl'> & {
    readonly findSpace: FindSpace
    readonly clients: Clients
  }

export function createToolRoutes(deps: ToolsDeps) {
  const { clients, findSpace } = deps
  const { limits, getClientAddress } = clients
  const signing = { ...deps, baseUrl: deps.offer.baseUrl }
  const takeTurn = createTurnHook(clients, 'searches')
  const createBudgetChecks = (budget: BudgetName) => ({
    maxBytes: PREVIEW_MAX_BYTES,
    before: (request: Request) => limits.take(budget, getClientAddress(request)),
  })
  return new Elysia({ name: 'tools' })
    .post('/api/preview', async ({ body }) => await respondPreview(deps, body), {
      ...createJsonBodyHooks(clients, readPreview, createBudgetChecks('previews')),
      ...documentOperation(DOCS.previewBlock),
    })
    .get(
      '/api/space',
      createQueryHandler(SpaceQuery, async (query) => {
        const near = query.near === undefined ? undefined : parseCoord(query.near)
        if (query.near !== undefined && near === undefined) return refuse(createInvalidCoordinateFailure())
        return respondResult(await findSpace({ ...query, near }))
      }),
      { transform: takeTurn, ...documentOperation(DOCS.findSpace) },
    )
    .post('/api/sign', ({ body }) => respondResult(createOrderSigning(body, new URL(deps.offer.baseUrl).hostname)), {
      ...createJsonBodyHooks(clients, readOrderToSign, createBudgetChecks('searches')),
      ...documentOperation(DOCS.getOrderToSign),
    })
    .get(
      '/api/sign',
      createQueryHandler(SignQuery, async (query) => respondResult(await createSigningMessage(signing, query))),
      { transform: takeTurn, ...documentOperation(DOCS.getSigningMessage) },
    )
}

const readPreview = createReader(PreviewBody, () => createFailure('invalid_body', PREVIEW_SHAPE))

const PREVIEW_SHAPE =
  'Send a JSON object with coord ("next" or "col,row"), w and h (integers) for an area, and any of name, framework, message, link, painter and px or pixels, all of them strings. No other fields are allowed.'

/** The size limit of a preview or an order, which has room for the pixels and the text of the largest area. */
const PREVIEW_MAX_BYTES = 64 * 1024

async function respondPreview(deps: PreviewDeps, body: PreviewBody): Promise<Response> {
  const { coord, w = 1, h = 1, ...said } = body
  const target = readTarget(coord, w, h)
  if (isFailure(target)) return refuse(target)
  return respondJson(200, await previewBlock(deps, target, said), NO_STORE)
}

const DOCS = {
  previewBlock: {
    id: 'previewBlock',
    summary: 'Try out a purchase',
    description:
      'Free, no side effects. Returns whether exactly this purchase would be accepted now, everything that is wrong with it, the terms, the request that buys it, and a picture of the block in place; with w and h, the same for an area. Nothing is reserved.',
    answers: [Preview],
    codes: ['invalid_body', 'invalid_coordinate', 'invalid_area', 'body_too_large', ...queued],
  },
  findSpace: {
    id: 'findSpace',
    summary: 'Find open space for a picture of several blocks',
    description:
      'Open rectangles of w x h blocks, starting with those nearest to the centre, or to the block `near`; each comes with the order that buys it in one payment and the total price. Nothing is reserved: another buyer may be faster.',
    answers: [Spaces],
    codes: ['invalid_size', 'invalid_coordinate', 'invalid_limit', ...queued],
  },
  getOrderToSign: {
    id: 'getOrderToSign',
    summary: 'Get the nonce that binds your payment to your order',
    description:
      'Free, no side effects. Send the order that you are going to pay for: for a block, `coord` and its listing; for an area, the body of POST /areas. Returns the order’s text, a salt and the nonce. Sign that nonce in your payment and put `extensions` into its payload: if anybody alters the order on the way, the payment buys nothing. An image over 48 KiB does not fit here; compute its digest yourself, as /llms-full.txt describes.',
    answers: [OrderSigning],
    codes: [
      'invalid_body',
      'invalid_coordinate',
      'invalid_area',
      'invalid_listing',
      'invalid_pixels',
      'invalid_painter',
      'invalid_image',
      'invalid_option',
      'body_too_large',
      'too_many_requests',
      'server_busy',
    ],
  },
  getSigningMessage: {
    id: 'getSigningMessage',
    summary: 'Get the exact text to sign',
    description:
      'Free. Returns the text for PUT /blocks/{coord} (kind=set_pixels), PUT /areas/{area} (kind=set_area), PUT /api/agents/me (kind=register) or PUT /api/agents/me/painter (kind=set_painter) with its EIP-191 digest, the body to send with your signature, and a test vector to check your signer. A field changes if you pass its key, is cleared if `clear` lists it, and is kept otherwise. A change that the PUT request would reject is rejected here too.',
    answers: [Signing],
    codes: [
      'invalid_option',
      'invalid_coordinate',
      'invalid_area',
      'unauthorized',
      'invalid_wallet',
      'invalid_pixels',
      'invalid_message',
      'invalid_link',
      'invalid_name',
      'invalid_framework',
      'invalid_painter',
      'empty_update',
      'stale_signature',
      'no_owner',
      'no_purchases',
      'purchase_pending',
      ...queued,
    ],
  },
} satisfies Record<string, OperationDocs>
