/** Route `/`: the page for people and link previews, or the guide for clients that ask for Markdown. */

import { headTags } from '../discovery/head.ts'
import { HOME_LINK } from '../discovery/links.ts'
import { sharingOf } from '../discovery/sharing.ts'
import type { Site } from '../discovery/site.ts'
import type { CardSubject } from '../domain/picture/card.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import { etagOf, cachedResponse, type CachedResponse } from './answer/cached-response.ts'
import { pageHeaders } from './answer/page-headers.ts'
import { KEPT_BY_PROXIES } from './answer/respond.ts'
import { guarded, type ViewerFiles } from './answer/viewer-files.ts'
import { prefersMarkdown } from './request/negotiate.ts'
import { subjectOf } from './request/subject.ts'

/** Dependencies of the homepage. */
export type HomeDeps = { readonly site: Site; readonly view: WallView; readonly viewer: ViewerFiles }

/** Serves the page, whose head describes the block or agent that the address names. Serves the guide when no page was built. */
export function homepage(deps: HomeDeps, guide: CachedResponse): (request: Request) => Promise<Response> {
  const page = pageOf(deps)
  const headers = Object.entries(pageHeaders(deps.site.offer.baseUrl))
  return async (request) => {
    const shown = prefersMarkdown(request.headers.get('accept')) ? undefined : await page
    const response = (shown?.(request.url) ?? guide)(request)
    response.headers.set('Link', HOME_LINK)
    for (const [name, value] of headers) response.headers.set(name, value)
    response.headers.append('Vary', 'Accept')
    return response
  }
}

/** The built page for each address. The page of the wall itself, which most clients request, is cached. */
async function pageOf({ site, view, viewer }: HomeDeps): Promise<((url: string) => CachedResponse) | undefined> {
  const built = viewer('/')?.(new Request(site.offer.baseUrl))
  if (built === undefined) return undefined
  const html = await built.text()
  const pageAbout = (subject: CardSubject) => {
    const text = html.replace('</head>', () => `${headTags(site, sharingOf(site, view, subject))}\n</head>`)
    const bytes = new TextEncoder().encode(text)
    return guarded(
      cachedResponse({ type: HTML, bytes: () => bytes, etag: etagOf(bytes), cacheControl: KEPT_BY_PROXIES }),
    )
  }
  const plain = pageAbout({ kind: 'wall' })
  return (url) => {
    const subject = subjectOf(url, view)
    return subject.kind === 'wall' ? plain : pageAbout(subject)
  }
}

const HTML = 'text/html; charset=utf-8'
