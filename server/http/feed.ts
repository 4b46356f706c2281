/** Routes `/api/feed`, `/api/tail` and `/api/history`: the log of the wall, in pages. */

import { Elysia } from 'elysia'
import { FeedPage, FeedQuery, type Sale } from '../../shared/contract/feed.ts'
import { HistoryPage, LogTail } from '../../shared/contract/live.ts'
import { anywhere, documentOperation, type OperationDocs, queued } from '../discovery/openapi/operation.ts'
import { isFailure } from '../domain/failure.ts'
import type { LogNumber } from '../domain/wall/log.ts'
import { toChangeDto, toFeedPage, type WallView } from '../domain/wall/wall-view.ts'
import type { Log } from '../ports.ts'
import {
  type CachedResponse,
  createCachedResponse,
  respondTagged,
  respondSynchronously,
  cachePerView,
} from './answer/cached-response.ts'
import { refuse } from './answer/refuse.ts'
import { CACHED_BRIEFLY, CACHED_BY_PROXIES } from './answer/respond.ts'
import { createTurnHook, type Clients } from './request/clients.ts'
import { createParamsReader, createQueryHandler } from './request/query.ts'

export type FeedDeps = { readonly view: WallView; readonly log: Log; readonly clients: Clients }

/**
 * Makes the routes. Pages that all followers request are cached by their query, which is parsed only when a page is
 * made.
 */
export const createFeedRoutes = ({ view, log, clients }: FeedDeps) => {
  const sales = cachePerView(view, createSalesFeed(view))
  const respondTail = createTailHandler(view, log)
  return new Elysia({ name: 'feed' })
    .get('/api/feed', respondSynchronously(sales), documentOperation(DOCS.readFeed))
    .get('/api/tail', async ({ request }) => await respondTail(request), documentOperation(DOCS.readTail))
    .get(
      '/api/history',
      createQueryHandler(FeedQuery, async ({ after, limit }, request) => {
        // Another process may have written changes that the view does not have yet.
        const found = await log.readAfter(after, limit + 1)
        const changes = found.slice(0, limit)
        const nextAfter = changes.at(-1)?.number ?? after
        const page: HistoryPage = { nextAfter, hasMore: found.length > limit, changes: changes.map(toChangeDto) }
        const body = JSON.stringify(page)
        return createCachedResponse({ type: 'application/json', body, cacheControl: CACHED_BY_PROXIES })(request)
      }),
      { transform: createTurnHook(clients, 'pages'), ...documentOperation(DOCS.readHistory) },
    )
}

const readQuery = createParamsReader(FeedQuery)

function createSalesFeed(view: WallView): CachedResponse {
  return ({ url }) => {
    const query = readQuery(url)
    if (isFailure(query)) return refuse(query)
    const { sales, ...page } = toFeedPage(view, query)
    const text = `${JSON.stringify(page).slice(0, -1)},"sales":[${sales.map(renderSale).join(',')}]}`
    return respondTagged(text)
  }
}

// A sale keeps its object until the sale changes, so each object is serialised only once.
const saleTexts = new WeakMap<Sale, string>()

function renderSale(sale: Sale): string {
  const text = saleTexts.get(sale) ?? JSON.stringify(sale)
  saleTexts.set(sale, text)
  return text
}

// More changes than usually happen between two polls by a page that polls every few seconds.
const TAIL_CHANGES = 100

// A proxy caches its copy for half this time.
const TAIL_EVERY_MS = 4000

/** The response for clients that cannot follow the stream; it is built once for each change of the wall. */
function createTailHandler(view: WallView, log: Log): (request: Request) => Promise<Response> {
  let known: { readonly number: LogNumber; readonly made: Promise<CachedResponse> } | undefined
  const buildTail = async (number: LogNumber): Promise<CachedResponse> => {
    const after = Math.max(0, number - TAIL_CHANGES)
    const changes = await log.readAfter(after, TAIL_CHANGES)
    const nextAfter = Math.max(number, changes.at(-1)?.number ?? 0)
    const page: LogTail = { after, nextAfter, askAgainMs: TAIL_EVERY_MS, changes: changes.map(toChangeDto) }
    return createCachedResponse({ type: 'application/json', body: JSON.stringify(page), cacheControl: CACHED_BRIEFLY })
  }
  return async (request) => {
    if (known?.number !== view.number) known = { number: view.number, made: buildTail(view.number) }
    const { made } = known
    try {
      return (await made)(request)
    } catch (error) {
      // The failed response is discarded, so that the next request tries again.
      if (known?.made === made) known = undefined
      throw error
    }
  }
}

const DOCS = {
  readFeed: {
    id: 'readFeed',
    summary: 'Read the sales, oldest first',
    description:
      'Every sale once, as it was sold. Pass `nextAfter` as `after` to continue, or start from `stats.lastSaleId` of the canvas read; you never miss a sale.',
    query: FeedQuery,
    answers: [FeedPage],
    revalidates: true,
    codes: ['invalid_after', 'invalid_limit', ...anywhere],
  },
  readTail: {
    id: 'readTail',
    summary: 'Read the last hundred changes, if you cannot keep a stream open',
    description:
      'The end of the log, the same for everyone, so proxies may cache it for two seconds. If your last change is older than `after`, read the canvas instead. Wait `askAgainMs` before the next request. Text in the changes is untrusted: other users wrote it.',
    answers: [LogTail],
    revalidates: true,
    codes: anywhere,
  },
  readHistory: {
    id: 'readHistory',
    summary: 'Read the whole log: sales, repaints and names, oldest first',
    description:
      'Every change of the wall once, numbered as in `/api/live`; continue from `nextAfter`. Once repaints and names are hours old, only the last one in each hour may remain for each block or wallet; after some days, only the last one may remain. Content hidden by the operator is omitted. Text in the changes is untrusted: other users wrote it.',
    answers: [HistoryPage],
    revalidates: true,
    codes: ['invalid_after', 'invalid_limit', ...queued],
  },
} satisfies Record<string, OperationDocs>
