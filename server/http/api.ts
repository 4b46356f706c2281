/** `/api/*`: the free reads, and what a wallet says of itself. */

import { TypeCompiler } from '@sinclair/typebox/compiler'
import { FEED_LIMIT_DEFAULT, FeedQuery, type Sale } from '../../shared/contract/feed.ts'
import type { HistoryPage, LogTail } from '../../shared/contract/live.ts'
import { failure, type Failure } from '../domain/failure.ts'
import type { Address } from '../domain/purchase/payment.ts'
import { wireChange } from '../domain/wall/change-dto.ts'
import type { LogNumber } from '../domain/wall/log.ts'
import { feedPage, registry, registryEntry, type WallView } from '../domain/wall/wall-view.ts'
import type { PaymentHealth } from '../health/payment-health.ts'
import type { Readiness } from '../health/readiness.ts'
import type { Log, Store } from '../ports.ts'
import { namePainter } from '../wall/name-painter.ts'
import { registerAgent, type Registering } from '../wall/register-agent.ts'
import type { Offer } from '../x402/terms.ts'
import { etagOf, readyAnswer, type ReadyAnswer } from './cached-response.ts'
import type { CanvasReads } from './canvas-read.ts'
import { inTurn, readInTurn, refuseBeyond, signedBy, type Clients } from './clients.ts'
import type { Live } from './live.ts'
import { readInteger, readQuery } from './query.ts'
import { refuse } from './refuse.ts'
import { KEPT_BRIEFLY, KEPT_BY_PROXIES, NO_STORE, respond, respondJson } from './respond.ts'
import { readOnly, type Handler, type Route } from './route.ts'
import { readPainterNaming, readRegistration } from './signed-body.ts'
import { viewCached } from './view-cache.ts'

/** What the free reads and the registry need. */
export type ApiDeps = {
  readonly view: WallView
  readonly reads: CanvasReads
  readonly live: Live
  readonly log: Log
  readonly registering: Registering
  readonly store: Pick<Store, 'ready'>
  readonly rail: PaymentHealth
  readonly readiness: Readiness
  readonly offer: Offer
  readonly environment?: string
  readonly clients: Clients
}

/** The routes under `/api`. */
export function apiRoutes(deps: ApiDeps): Route[] {
  return [
    { path: '/api/canvas', methods: readOnly(deps.reads.canvas.answer) },
    { path: '/api/canvas.bin', methods: readOnly(deps.reads.pixels.answer) },
    { path: '/api/blocks', methods: readOnly(deps.reads.blocks.answer) },
    { path: '/api/live', methods: readOnly(followed(deps)) },
    { path: '/api/feed', methods: readOnly(viewCached(deps.view, feed(deps))) },
    { path: '/api/tail', methods: readOnly(tail(deps)) },
    { path: '/api/history', methods: readOnly(inTurn(deps.clients, 'history', history(deps))) },
    {
      path: '/api/agents',
      methods: readOnly(viewCached(deps.view, agents(deps), () => '')),
    },
    { path: '/api/agents/me', methods: { PUT: signedBy(deps.clients, register(deps)) } },
    { path: '/api/agents/me/painter', methods: { PUT: signedBy(deps.clients, painter(deps)) } },
    { path: '/api/health', methods: readOnly(health(deps)) },
  ]
}

function followed({ live, clients }: ApiDeps): Handler {
  return (request) => refuseBeyond(clients, 'streams', request) ?? live.answer(request, clients.addressOf(request))
}

function feed({ view }: ApiDeps): ReadyAnswer {
  return ({ url }) => {
    const query = readFeedQuery(url)
    if ('code' in query) return refuse(query)
    const { sales, ...page } = feedPage(view, query)
    const text = `${JSON.stringify(page).slice(0, -1)},"sales":[${sales.map(textOfSale).join(',')}]}`
    return tagged(text)
  }
}

const agents =
  ({ view }: ApiDeps): ReadyAnswer =>
  () =>
    tagged(JSON.stringify(registry(view)))

// A text would be encoded anew for each copy that is sent.
const encoder = new TextEncoder()

function tagged(text: string): Response {
  const bytes = encoder.encode(text)
  return respond(200, 'application/json', bytes, { ETag: etagOf(bytes), 'Cache-Control': KEPT_BY_PROXIES })
}

// A sale is the same object for as long as it reads the same, so it is serialised once.
const saleTexts = new WeakMap<Sale, string>()

function textOfSale(sale: Sale): string {
  const text = saleTexts.get(sale) ?? JSON.stringify(sale)
  saleTexts.set(sale, text)
  return text
}

function history({ log }: ApiDeps): Handler {
  return async ({ url }) => {
    const query = readFeedQuery(url)
    if ('code' in query) return refuse(query)
    // Another process may have written more than the view has by now.
    const found = await log.after(query.after, query.limit + 1)
    const changes = found.slice(0, query.limit)
    const nextAfter = changes.at(-1)?.number ?? query.after
    const page: HistoryPage = { nextAfter, hasMore: found.length > query.limit, changes: changes.map(wireChange) }
    return respondJson(200, page, { 'Cache-Control': KEPT_BY_PROXIES })
  }
}

// As many as a page that asks every few seconds may have missed.
const TAIL_CHANGES = 100

/** One answer for all who cannot follow the stream, made once for each change of the wall. */
function tail({ view, log }: ApiDeps): Handler {
  let known: { readonly number: LogNumber; readonly made: Promise<ReadyAnswer> } | undefined
  const make = async (number: LogNumber): Promise<ReadyAnswer> => {
    const after = Math.max(0, number - TAIL_CHANGES)
    const changes = await log.after(after, TAIL_CHANGES)
    const nextAfter = Math.max(number, changes.at(-1)?.number ?? 0)
    const bytes = encoder.encode(
      JSON.stringify({ after, nextAfter, changes: changes.map(wireChange) } satisfies LogTail),
    )
    return readyAnswer({
      type: 'application/json',
      bytes: () => bytes,
      etag: etagOf(bytes),
      cacheControl: KEPT_BRIEFLY,
    })
  }
  return async (request) => {
    if (known?.number !== view.number) known = { number: view.number, made: make(view.number) }
    const { made } = known
    try {
      return (await made)(request)
    } catch (error) {
      // The next request tries again.
      if (known?.made === made) known = undefined
      throw error
    }
  }
}

const afterCheck = TypeCompiler.Compile(FeedQuery.properties.after)
const limitCheck = TypeCompiler.Compile(FeedQuery.properties.limit)

function readFeedQuery(url: string): FeedQuery | Failure {
  const query = readQuery(url, ['after', 'limit'])
  const numberOf = (key: 'after' | 'limit', otherwise: number) => {
    const value = query.get(key)
    if (value === undefined) return otherwise
    return 'text' in value ? readInteger(value.text) : undefined
  }
  const after = numberOf('after', 0)
  if (!afterCheck.Check(after))
    return failure('invalid_after', 'after must be one integer from 0 up, in plain decimal.')
  const limit = numberOf('limit', FEED_LIMIT_DEFAULT)
  if (!limitCheck.Check(limit))
    return failure('invalid_limit', 'limit must be one integer from 1 to 200, in plain decimal.')
  return { after, limit }
}

function register({ registering, view, clients }: ApiDeps): Handler {
  return async (request) => {
    const read = await readInTurn(clients, request)
    if ('failure' in read) return refuse(read.failure, { Connection: 'close' })
    const body = readRegistration(read.value)
    if ('code' in body) return refuse(body)
    const wallet = body.wallet.toLowerCase() as Address
    const result = await registerAgent(registering, wallet, body, clients.addressOf(request))
    if ('code' in result) return refuse(result)
    return respondJson(200, { ...result, agent: registryEntry(view, wallet) }, NO_STORE)
  }
}

function painter({ registering, clients }: ApiDeps): Handler {
  return async (request) => {
    const read = await readInTurn(clients, request)
    if ('failure' in read) return refuse(read.failure, { Connection: 'close' })
    const body = readPainterNaming(read.value)
    if ('code' in body) return refuse(body)
    const wallet = body.wallet.toLowerCase() as Address
    const result = await namePainter(registering, wallet, body, clients.addressOf(request))
    return 'code' in result ? refuse(result) : respondJson(200, result, NO_STORE)
  }
}

function health({ store, rail, readiness, offer, environment }: ApiDeps): Handler {
  return async () => {
    const isReadable = await store.ready()
    const troubles = readiness.troubles()
    const ok = isReadable && troubles.every(({ kind }) => kind === 'clock')
    const faults = [rail.fault(), ...troubles.map(({ reason }) => reason)].filter((fault) => fault !== null)
    const body = {
      ok,
      service: 'pixel-wall',
      ...(environment === undefined ? {} : { environment }),
      rail: rail.state(),
      ...(faults.length === 0 ? {} : { railError: faults.join('; ') }),
      network: offer.terms.network,
    }
    return respondJson(200, body, NO_STORE)
  }
}
