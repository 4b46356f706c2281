/** Routes of the documents that machines look for first, and of the homepage, as a page or as the guide. */

import { Elysia } from 'elysia'
import { CLAIM_ORDER, coordOf, type Coord } from '../../shared/wall.ts'
import { securityTxt } from '../discovery/crawlers.ts'
import { documents, homeGuide, JSON_TYPE, PLAIN, type Document } from '../discovery/documents.ts'
import { PATHS } from '../discovery/links.ts'
import { openApi } from '../discovery/openapi/openapi.ts'
import type { Site } from '../discovery/site.ts'
import { failure } from '../domain/failure.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { Clock } from '../ports.ts'
import { etagOf, cachedResponse, type CachedResponse } from './answer/cached-response.ts'
import { refuse } from './answer/refuse.ts'
import type { ViewerFiles } from './answer/viewer-files.ts'
import { homepage } from './homepage.ts'

/** Dependencies of the document routes. */
export type DocumentDeps = {
  readonly site: Site
  readonly view: WallView
  readonly clock: Clock
  readonly viewer: ViewerFiles
}

const KEPT_A_WHILE = 'public, max-age=300'

/** Makes the routes. */
export function discovery(deps: DocumentDeps) {
  const { site } = deps
  const [home, api, contact] = [homepage(deps, ready(homeGuide(site))), openApiReader(deps), security(deps)]
  const app = new Elysia({ name: 'discovery' })
    .get('/', async ({ request }) => await home(request))
    .get(PATHS.openapi, ({ request }) => api(request))
    .get(PATHS.security, ({ request }) => contact(request))
  for (const document of documents(site)) {
    const answer = ready(document)
    app.get(document.path, ({ request }) => answer(request))
  }
  return app
}

function ready({ type, body }: Pick<Document, 'type' | 'body'>): CachedResponse {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  return cachedResponse({ type, bytes: () => bytes, etag: etagOf(bytes), cacheControl: KEPT_A_WHILE })
}

/** The OpenAPI document. It is made again when the block of its example has been sold. */
function openApiReader({ site, view }: DocumentDeps): CachedResponse {
  let shown: { readonly example: Coord; readonly answer: CachedResponse } | undefined
  return (request) => {
    const example = openBlock(view)
    if (shown?.example !== example)
      shown = { example, answer: ready({ type: JSON_TYPE, body: JSON.stringify(openApi(site, example)) }) }
    return shown.answer(request)
  }
}

/** The open block that will be sold last, so that it is probably still open when a reader tries it. */
function openBlock({ claimed }: WallView): Coord {
  const open = CLAIM_ORDER.findLast((block) => !claimed.has(block))
  return open === undefined ? '0,0' : coordOf(open)
}

function security({ site, clock }: DocumentDeps): CachedResponse {
  return (request) => {
    const body = securityTxt(site, clock.now())
    if (body === undefined) return refuse(failure('not_found', 'The operator has named no contact.'))
    return ready({ type: PLAIN, body })(request)
  }
}
