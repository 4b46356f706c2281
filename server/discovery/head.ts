/** What the page's head tells those who only look there: link previews, search engines, agents that read HTML. */

import { CARD_HEIGHT, CARD_WIDTH } from '../domain/picture/card.ts'
import { PATHS } from './links.ts'
import { inMarkup } from './markup.ts'
import { cardPath, type Sharing } from './sharing.ts'
import { contactUri, type Site } from './site.ts'

/** Tags that need the service's own address, which the built page does not know, or what is shared. */
export function headTags(site: Site, sharing: Sharing): string {
  const { baseUrl } = site.offer
  const contact = contactUri(site)
  return [
    link('canonical', `${baseUrl}/`),
    property('og:type', 'website'),
    property('og:site_name', site.offer.title),
    property('og:title', sharing.title),
    property('og:description', sharing.description),
    property('og:url', `${baseUrl}/${sharing.query}`),
    property('og:image', baseUrl + cardPath(sharing)),
    property('og:image:type', 'image/png'),
    property('og:image:width', String(CARD_WIDTH)),
    property('og:image:height', String(CARD_HEIGHT)),
    property('og:image:alt', sharing.alt),
    named('twitter:card', 'summary_large_image'),
    // The page tells its reader whom to write to about what is shown on it.
    ...(contact === undefined ? [] : [named('contact', contact)]),
    link('alternate', baseUrl + PATHS.skill, 'text/markdown'),
    link('alternate', baseUrl + PATHS.atlasFeed, 'application/atom+xml'),
    link(
      'alternate',
      `${baseUrl}${PATHS.oembed}?url=${encodeURIComponent(`${baseUrl}/${sharing.query}`)}`,
      'application/json+oembed',
    ),
    link('service-desc', baseUrl + PATHS.openapi, 'application/json'),
    link('service-doc', baseUrl + PATHS.llms, 'text/plain'),
  ].join('\n')
}

const named = (name: string, content: string) => `<meta name="${name}" content="${inMarkup(content)}">`

const property = (name: string, content: string) => `<meta property="${name}" content="${inMarkup(content)}">`

const link = (rel: string, href: string, type?: string) =>
  `<link rel="${rel}" href="${inMarkup(href)}"${type === undefined ? '' : ` type="${type}"`}>`
