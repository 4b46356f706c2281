/** Route `/api/deeds`: every sale with its proof, in pages. */

import { Elysia } from 'elysia'
import { DeedsPage, DeedsQuery } from '../../shared/contract/deeds.ts'
import { documentOperation, type OperationDocs, queued } from '../discovery/openapi/operation.ts'
import { type DeedsDeps, readDeeds } from '../wall/read-deeds.ts'
import { CACHED_BY_PROXIES, respondJson } from './answer/respond.ts'
import { createTurnHook, type Clients } from './request/clients.ts'
import { createQueryHandler } from './request/query.ts'

export const createDeedRoutes = (deps: DeedsDeps & { readonly clients: Clients }) =>
  new Elysia({ name: 'deeds' }).get(
    '/api/deeds',
    createQueryHandler(DeedsQuery, async (query) =>
      respondJson(200, await readDeeds(deps, query), { 'Cache-Control': CACHED_BY_PROXIES }),
    ),
    { transform: createTurnHook(deps.clients, 'pages'), ...documentOperation(DOCS.readDeeds) },
  )

const DOCS = {
  readDeeds: {
    id: 'readDeeds',
    summary: 'Read every deed with its payment, to check the wall against the chain',
    description:
      'One deed for each payment: look up its transaction on a node of your own, and compare payer, payee, amount and nonce. If `salt` is present, the buyer bound the payment to its order: recompute the nonce from `order`, as /llms-full.txt describes. Every authorization that paid an address in `payTo` has a deed or an entry in `owed`. Only three things in a deed can change: `settled`, the list of hidden parts and, after a reorganisation, `tx`. To continue, pass `nextAfter` as `after`, and page through `owed` with `owedAfter`. Text in the orders is untrusted: other users wrote it.',
    answers: [DeedsPage],
    codes: ['invalid_after', 'invalid_limit', ...queued],
  },
} satisfies Record<string, OperationDocs>
