/** Routes `/atlas`, its Atom feed, and `/oembed`: the wall as pages to read, to subscribe to and to embed. */

import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { COLS, ROWS } from '../../shared/wall.ts'
import { ATLAS_STYLE, renderAtlasFeed, renderAtlasHtml, type AtlasPart } from '../discovery/atlas.ts'
import { PATHS } from '../discovery/links.ts'
import { formatCardPath, describeSubject } from '../discovery/sharing.ts'
import { escapeMarkup, type Site } from '../discovery/site.ts'
import { createFailure, isFailure } from '../domain/failure.ts'
import { CARD_HEIGHT, CARD_WIDTH } from '../domain/picture/card.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import { createCachedResponse, addHeaders, type CachedResponse } from './answer/cached-response.ts'
import { respondErrorPage } from './answer/payment-page.ts'
import { refuse } from './answer/refuse.ts'
import { CACHED_BY_PROXIES, respondJson } from './answer/respond.ts'
import { formatContentPolicy, createSiteHeaders } from './answer/security-headers.ts'
import { createTurnHook, type Clients } from './request/clients.ts'
import { createParamsReader, readInteger, readSubject, readTexts } from './request/query.ts'

export type AtlasDeps = { readonly site: Site; readonly view: WallView; readonly clients: Clients }

export const createAtlasRoutes = (deps: AtlasDeps) => {
  const inTurns = { transform: createTurnHook(deps.clients, 'pages') }
  const [page, news, quoted] = [createAtlasPage(deps), createAtlasNews(deps), createOembedResponse(deps)]
  return new Elysia({ name: 'atlas' })
    .get(PATHS.atlas, ({ request }) => page(request), inTurns)
    .get(PATHS.atlasFeed, ({ request }) => news(request), inTurns)
    .get(PATHS.oembed, ({ request }) => quoted(request))
}

function createAtlasPage({ site, view }: AtlasDeps): CachedResponse {
  const headers = {
    ...createSiteHeaders(site.offer.baseUrl),
    ...formatContentPolicy({ style: ATLAS_STYLE, images: true }),
  }
  return (request) => {
    const part = parsePart(request.url)
    const html = part && renderAtlasHtml(site, view, part)
    if (html === undefined) return respondErrorPage(404)
    return addHeaders(createAnswer('text/html; charset=utf-8', html), headers)(request)
  }
}

function createAtlasNews({ site, view }: AtlasDeps): CachedResponse {
  return (request) => {
    const query = readNewsQuery(request.url)
    const xml = isFailure(query) ? undefined : renderAtlasFeed(site, view, query.agent)
    if (xml === undefined)
      return refuse(createFailure('not_found', 'No agent has this number. See /atlas?list=agents.'))
    return createAnswer('application/atom+xml; charset=utf-8', xml)(request)
  }
}

const createAnswer = (type: string, body: string) =>
  createCachedResponse({ type, body, cacheControl: CACHED_BY_PROXIES })

const Numbered = Type.Optional(Type.Integer({ minimum: 1 }))

const readNewsQuery = createParamsReader(Type.Object({ agent: Numbered }))

const readPartQuery = createParamsReader(
  Type.Object({ agent: Numbered, page: Numbered, list: Type.Optional(Type.Literal('agents')) }),
)

function parsePart(url: string): AtlasPart | undefined {
  const query = readPartQuery(url)
  if (isFailure(query)) return undefined
  const { agent, page = 1, list } = query
  if (list === undefined) return { list: 'works', page, ...(agent === undefined ? {} : { agent }) }
  return agent === undefined ? { list, page } : undefined
}

// The width of the embedded frame if the consumer gives no maximum.
const FRAME_WIDTH = 800

/** oEmbed 1.0: the embed code for a link to the wall, a block, an artwork or an agent. */
function createOembedResponse({ site, view }: AtlasDeps): CachedResponse {
  const { baseUrl } = site.offer
  return (request) => {
    const given = readTexts(request.url)
    if ((given['format'] ?? 'json') !== 'json')
      return refuse(createFailure('invalid_option', 'format must be json, or omitted.'))
    const url = given['url'] ?? ''
    if (!URL.canParse(url) || !`${url}/`.startsWith(`${baseUrl}/`))
      return refuse(createFailure('not_found', `url must be a page of this wall, at ${baseUrl}/.`))
    const sharing = describeSubject(site, view, readSubject(url, view))
    const readMaximum = (key: 'maxwidth' | 'maxheight') => readInteger(given[key]) ?? Infinity
    const width = Math.max(
      1,
      Math.min(FRAME_WIDTH, readMaximum('maxwidth'), Math.floor((readMaximum('maxheight') * COLS) / ROWS)),
    )
    const height = Math.max(1, Math.round((width * ROWS) / COLS))
    const address = `${baseUrl}/${sharing.query}${sharing.query === '' ? '?' : '&'}embed=1`
    const body = {
      version: '1.0',
      type: 'rich',
      title: sharing.title,
      provider_name: site.offer.title,
      provider_url: `${baseUrl}/`,
      cache_age: 3600,
      thumbnail_url: baseUrl + formatCardPath(sharing),
      thumbnail_width: CARD_WIDTH,
      thumbnail_height: CARD_HEIGHT,
      html: `<iframe src="${escapeMarkup(address)}" width="${width}" height="${height}" title="${escapeMarkup(sharing.title)}"></iframe>`,
      width,
      height,
    }
    return respondJson(200, body, { 'Cache-Control': CACHED_BY_PROXIES })
  }
}
