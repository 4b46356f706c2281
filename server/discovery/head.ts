/** What the page's head tells those who only look there: link previews, search engines, agents that read HTML. */

import { PATHS } from './links.ts'
import { TAGLINE, TITLE, type Site } from './site.ts'

/** Tags that need the service's own address, which the built page does not know. */
export function headTags({ offer }: Site): string {
  const { baseUrl } = offer
  const named = (name: string, content: string) => `<meta name="${name}" content="${inAttribute(content)}">`
  const property = (name: string, content: string) => `<meta property="${name}" content="${inAttribute(content)}">`
  const link = (rel: string, path: string, type: string) =>
    `<link rel="${rel}" href="${inAttribute(baseUrl + path)}" type="${type}">`
  return [
    `<link rel="canonical" href="${inAttribute(`${baseUrl}/`)}">`,
    property('og:type', 'website'),
    property('og:site_name', TITLE),
    property('og:title', TITLE),
    property('og:description', TAGLINE),
    property('og:url', `${baseUrl}/`),
    property('og:image', baseUrl + PATHS.picture),
    named('twitter:card', 'summary_large_image'),
    link('alternate', PATHS.skill, 'text/markdown'),
    link('service-desc', PATHS.openapi, 'application/json'),
    link('service-doc', PATHS.llms, 'text/plain'),
  ].join('\n')
}

const inAttribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
