/** Routes for the documents that programs request first, and for the homepage, as HTML or as the guide in Markdown. */

import { Elysia } from 'elysia'
import { CLAIM_ORDER, type Coord, formatCoord } from '../../shared/wall.ts'
import {
  type Document,
  renderDocuments,
  renderHomeGuide,
  JSON_TYPE,
  PLAIN,
  renderSecurityTxt,
} from '../discovery/documents.ts'
import { addFirstScreen } from '../discovery/first-screen.ts'
import { HOME_LINK, PATHS } from '../discovery/links.ts'
import { createOpenApiDocument } from '../discovery/openapi/openapi.ts'
import { renderHeadTags, describeSubject } from '../discovery/sharing.ts'
import { formatBlockPrice, type Site } from '../discovery/site.ts'
import { createFailure } from '../domain/failure.ts'
import type { CardSubject } from '../domain/picture/card.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { Clock } from '../ports.ts'
import { type CachedResponse, createCachedResponse, addHeaders } from './answer/cached-response.ts'
import { refuse } from './answer/refuse.ts'
import { CACHED_BY_PROXIES } from './answer/respond.ts'
import { formatContentPolicy, createSiteHeaders } from './answer/security-headers.ts'
import type { ViewerFiles } from './answer/viewer-files.ts'
import { prefersMarkdown } from './request/negotiate.ts'
import { readSubject } from './request/query.ts'

type DocumentDeps = {
  readonly site: Site
  readonly view: WallView
  readonly clock: Clock
  readonly findViewerFile: ViewerFiles
}

const CACHED_FIVE_MINUTES = 'public, max-age=300'

export function createDiscoveryRoutes(deps: DocumentDeps) {
  const { site } = deps
  const [home, api, contact] = [
    createHomepageHandler(deps, createReadyResponse(renderHomeGuide(site))),
    createOpenApiResponse(deps),
    createSecurityTxtResponse(deps),
  ]
  const app = new Elysia({ name: 'discovery' })
    .get('/', async ({ request }) => await home(request))
    .get(PATHS.openapi, ({ request }) => api(request))
    .get(PATHS.security, ({ request }) => contact(request))
  for (const document of renderDocuments(site)) {
    const answer = createReadyResponse(document)
    app.get(document.path, ({ request }) => answer(request))
  }
  return app
}

/** Makes the response of a document when it is first requested. */
function createReadyResponse({ type, body }: Pick<Document, 'type' | 'body'>): CachedResponse {
  let answer: CachedResponse | undefined
  return (request) => (answer ??= createDocumentResponse(type, body()))(request)
}

const createDocumentResponse = (type: string, body: ReturnType<Document['body']>): CachedResponse =>
  createCachedResponse({ type, body, cacheControl: CACHED_FIVE_MINUTES })

/** The OpenAPI document. It is rebuilt after the block in its example is sold. */
function createOpenApiResponse({ site, view }: DocumentDeps): CachedResponse {
  let shown: { readonly example: Coord; readonly answer: CachedResponse } | undefined
  return (request) => {
    const example = findOpenBlock(view)
    if (shown?.example !== example)
      shown = {
        example,
        answer: createDocumentResponse(JSON_TYPE, JSON.stringify(createOpenApiDocument(site, example))),
      }
    return shown.answer(request)
  }
}

/**
 * The open block that `/blocks/next` will sell last, so that it is probably still open when a reader tries the example.
 */
function findOpenBlock({ claimed }: WallView): Coord {
  const open = CLAIM_ORDER.findLast((block) => !claimed.has(block))
  return open === undefined ? '0,0' : formatCoord(open)
}

function createSecurityTxtResponse({ site, clock }: DocumentDeps): CachedResponse {
  return (request) => {
    const body = renderSecurityTxt(site, clock.now())
    if (body === undefined) return refuse(createFailure('not_found', 'The operator has not published a contact.'))
    return createDocumentResponse(PLAIN, body)(request)
  }
}

type HomeDeps = { readonly site: Site; readonly view: WallView; readonly findViewerFile: ViewerFiles }

/**
 * Serves the page, whose head describes the block or agent in the address. Serves the guide if the client prefers
 * Markdown or if no page was built.
 */
function createHomepageHandler(deps: HomeDeps, guide: CachedResponse): (request: Request) => Promise<Response> {
  const page = createPageRenderer(deps)
  const headers = Object.entries(createSiteHeaders(deps.site.offer.baseUrl))
  return async (request) => {
    const shown = prefersMarkdown(request.headers.get('accept')) ? undefined : await page
    const response = (shown?.(request.url) ?? guide)(request)
    response.headers.set('Link', HOME_LINK)
    for (const [name, value] of headers) response.headers.set(name, value)
    response.headers.append('Vary', 'Accept')
    return response
  }
}

/**
 * Creates a function that renders the built page for a URL, including its first screen. The function caches only the
 * page about the whole wall, which most clients request.
 */
async function createPageRenderer({
  site,
  view,
  findViewerFile,
}: HomeDeps): Promise<((url: string) => CachedResponse) | undefined> {
  const built = await findViewerFile('/')?.(new Request(site.offer.baseUrl)).text()
  if (built === undefined) return undefined
  const policy = formatContentPolicy({ built: 'wall', html: built })
  const renderPageAbout = (html: string, subject: CardSubject) => {
    const body = html.replace('</head>', () => `${renderHeadTags(site, describeSubject(site, view, subject))}\n</head>`)
    return addHeaders(createCachedResponse({ type: HTML, body, cacheControl: CACHED_BY_PROXIES }), policy)
  }
  const renderPageAfter = (sales: number, lastBuyer: string | undefined) => {
    const html = addFirstScreen(built, { sold: view.claimed, perBlock: formatBlockPrice(site), lastBuyer })
    return { sales, lastBuyer, html, plain: renderPageAbout(html, { kind: 'wall' }) }
  }
  let shown: ReturnType<typeof renderPageAfter> | undefined
  return (url) => {
    const sales = view.sales.length
    const lastBuyer = findLastBuyer(view)
    if (shown?.sales !== sales || shown.lastBuyer !== lastBuyer) shown = renderPageAfter(sales, lastBuyer)
    const subject = readSubject(url, view)
    return subject.kind === 'wall' ? shown.plain : renderPageAbout(shown.html, subject)
  }
}

/** The current name of the last buyer, or its truncated wallet if it has no name. */
function findLastBuyer({ sales, agents }: WallView): string | undefined {
  const agent = agents[(sales.at(-1)?.agent.id ?? 0) - 1]
  return agent && (agent.name ?? agent.shownAs)
}

const HTML = 'text/html; charset=utf-8'
