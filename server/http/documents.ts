/** Serves what machines look for first: the documents of the service, and the homepage as a page or as the guide. */

import { CLAIM_ORDER, coordOf, type Coord } from '../../shared/wall.ts'
import { securityTxt } from '../discovery/crawlers.ts'
import { documents, homeGuide, JSON_TYPE, PLAIN, type Document } from '../discovery/documents.ts'
import { PATHS } from '../discovery/links.ts'
import { openApi } from '../discovery/openapi.ts'
import type { Site } from '../discovery/site.ts'
import { failure } from '../domain/failure.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { Clock } from '../ports.ts'
import { etagOf, readyAnswer, type ReadyAnswer } from './cached-response.ts'
import { homepage } from './homepage.ts'
import { refuse } from './refuse.ts'
import { readOnly, type Handler, type Route } from './route.ts'
import type { ViewerFiles } from './viewer-files.ts'

/** What the documents are served from. */
export type DocumentDeps = {
  readonly site: Site
  readonly view: WallView
  readonly clock: Clock
  readonly viewer: ViewerFiles
}

const KEPT_A_WHILE = 'public, max-age=300'

/** The routes of every document, the homepage included. */
export const documentRoutes = (deps: DocumentDeps): Route[] => [
  { path: '/', methods: readOnly(homepage(deps, ready(homeGuide(deps.site)))) },
  { path: PATHS.openapi, methods: readOnly(openApiReader(deps)) },
  { path: PATHS.security, methods: readOnly(security(deps)) },
  ...documents(deps.site).map((document) => ({ path: document.path, methods: readOnly(ready(document)) })),
]

function ready({ type, body }: Pick<Document, 'type' | 'body'>): ReadyAnswer {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  return readyAnswer({ type, bytes: () => bytes, etag: etagOf(bytes), cacheControl: KEPT_A_WHILE })
}

/** The OpenAPI document, made anew when the block of its example has been sold. */
function openApiReader({ site, view }: DocumentDeps): Handler {
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

function security({ site, clock }: DocumentDeps): Handler {
  return (request) => {
    const body = securityTxt(site, clock.now())
    if (body === undefined) return refuse(failure('not_found', 'The operator has named no contact.'))
    return ready({ type: PLAIN, body })(request)
  }
}
