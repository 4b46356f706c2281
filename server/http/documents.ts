/** Serves what machines look for first: the documents of the service, and the homepage as a page or as the guide. */

import { CLAIM_ORDER, coordOf, type Coord } from '../../shared/wall.ts'
import { securityTxt } from '../discovery/crawlers.ts'
import { documents, homeGuide, JSON_TYPE, PLAIN, type Document } from '../discovery/documents.ts'
import { headTags } from '../discovery/head.ts'
import { HOME_LINK, PATHS } from '../discovery/links.ts'
import { openApi } from '../discovery/openapi.ts'
import type { Site } from '../discovery/site.ts'
import { failure } from '../domain/failure.ts'
import type { WallView } from '../domain/wall-view.ts'
import type { Clock } from '../ports.ts'
import { prefersMarkdown } from './negotiate.ts'
import { etagOf, readyAnswer, type ReadyAnswer } from './ready-answer.ts'
import { refuse } from './refuse.ts'
import { readOnly, type Handler, type Route } from './route.ts'
import { guarded, type ViewerFiles } from './viewer-files.ts'

/** What the documents are served from. */
export type DocumentDesk = {
  readonly site: Site
  readonly view: WallView
  readonly clock: Clock
  readonly viewer: ViewerFiles
}

const HTML = 'text/html; charset=utf-8'

const KEPT_A_WHILE = 'public, max-age=300'

/** The routes of every document, the homepage included. */
export const documentRoutes = (desk: DocumentDesk): Route[] => [
  { path: '/', methods: readOnly(homepage(desk)) },
  { path: PATHS.openapi, methods: readOnly(openApiReader(desk)) },
  { path: PATHS.security, methods: readOnly(security(desk)) },
  ...documents(desk.site).map((document) => ({ path: document.path, methods: readOnly(ready(document)) })),
]

function ready({ type, body }: Pick<Document, 'type' | 'body'>): ReadyAnswer {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  return readyAnswer({ type, bytes: () => bytes, etag: etagOf(bytes), cacheControl: KEPT_A_WHILE })
}

/** The page for people; the guide for whoever prefers Markdown, or where no page was built. Both lead to the rest. */
function homepage({ site, viewer }: DocumentDesk): Handler {
  const guide = ready(homeGuide(site))
  const page = pageOf(viewer, site)
  return async (request) => {
    const shown = prefersMarkdown(request.headers.get('accept')) ? undefined : await page
    const response = (shown ?? guide)(request)
    response.headers.set('Link', HOME_LINK)
    response.headers.append('Vary', 'Accept')
    return response
  }
}

/** The built page with the tags that name this service's address. */
async function pageOf(viewer: ViewerFiles, site: Site): Promise<ReadyAnswer | undefined> {
  const built = viewer('/')?.(new Request(site.offer.baseUrl))
  if (built === undefined) return undefined
  const html = (await built.text()).replace('</head>', () => `${headTags(site)}\n</head>`)
  const bytes = new TextEncoder().encode(html)
  return guarded(readyAnswer({ type: HTML, bytes: () => bytes, etag: etagOf(bytes), cacheControl: 'no-cache' }))
}

/** The OpenAPI document, made anew when the block of its example has been sold. */
function openApiReader({ site, view }: DocumentDesk): Handler {
  let shown: { readonly example: Coord; readonly answer: ReadyAnswer } | undefined
  return (request) => {
    const example = openBlock(view)
    if (shown?.example !== example)
      shown = { example, answer: ready({ type: JSON_TYPE, body: JSON.stringify(openApi(site, example)) }) }
    return shown.answer(request)
  }
}

/** The open block that will be sold last, so that it is still open when somebody tries it. */
function openBlock({ claimed }: WallView): Coord {
  const open = CLAIM_ORDER.findLast((block) => !claimed.has(block))
  return open === undefined ? '0,0' : coordOf(open)
}

function security({ site, clock }: DocumentDesk): Handler {
  return (request) => {
    const body = securityTxt(site, clock.now())
    if (body === undefined) return refuse(failure('not_found', 'The operator has named no contact.'))
    return ready({ type: PLAIN, body })(request)
  }
}
