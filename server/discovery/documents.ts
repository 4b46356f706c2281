/** Every document that depends on the settings alone, with its address and media type. */

import { renderGuide, renderHeartbeat, renderLlmsTxt, renderRobotsTxt } from './guide.ts'
import iconBase64 from './icons/favicon.ico.txt' with { type: 'text' }
import iconSvg from './icons/favicon.svg' with { type: 'text' }
import { PATHS } from './links.ts'
import { renderLlmsFullTxt, renderSkill } from './reference.ts'
import { formatContactUri, escapeMarkup, type Site } from './site.ts'
import {
  createApiCatalog,
  createServerCard,
  createServerJson,
  createSkillsIndex,
  createSkillsIndexV1,
  listX402Resources,
} from './well-known.ts'

/**
 * A document served at a path. Its body is made at the first request, because making all bodies at startup would take
 * 24 ms of CPU time.
 */
export type Document = {
  readonly path: string
  readonly type: string
  readonly body: () => string | Uint8Array<ArrayBuffer>
}

export const JSON_TYPE = 'application/json'
const MARKDOWN = 'text/markdown; charset=utf-8'
export const PLAIN = 'text/plain; charset=utf-8'
const CATALOG = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'

/** The guide as the homepage returns it to clients that prefer Markdown. */
export const renderHomeGuide = (site: Site): Document => ({ path: '/', type: MARKDOWN, body: () => renderGuide(site) })

export function renderDocuments(site: Site): readonly Document[] {
  const renderThisSkill = () => renderSkill(site)
  const createJsonDocument = (path: string, value: () => unknown, type = JSON_TYPE): Document => ({
    path,
    type,
    body: () => JSON.stringify(value()),
  })
  const createTextDocument = (path: string, body: Document['body'], type = PLAIN): Document => ({ path, type, body })
  return [
    createTextDocument(PATHS.llms, () => renderLlmsTxt(site)),
    createTextDocument(PATHS.llmsFull, () => renderLlmsFullTxt(site)),
    createTextDocument(PATHS.skill, renderThisSkill, MARKDOWN),
    createTextDocument(PATHS.heartbeat, () => renderHeartbeat(site), MARKDOWN),
    createJsonDocument(PATHS.skills, () => createSkillsIndex(site, renderThisSkill())),
    createJsonDocument(PATHS.skillsV1, () => createSkillsIndexV1(site)),
    createTextDocument(PATHS.skillV1, renderThisSkill, MARKDOWN),
    createJsonDocument(PATHS.x402, () => listX402Resources(site)),
    createJsonDocument(PATHS.mcpJson, () => createServerCard(site)),
    createJsonDocument(PATHS.serverCard, () => createServerCard(site)),
    createJsonDocument(PATHS.mcpServerCard, () => createServerCard(site), 'application/mcp-server-card+json'),
    createJsonDocument(PATHS.serverJson, () => createServerJson(site)),
    createJsonDocument(PATHS.apiCatalog, () => createApiCatalog(site), CATALOG),
    createTextDocument(PATHS.robots, () => renderRobotsTxt(site)),
    createTextDocument(PATHS.sitemap, () => renderSitemap(site), 'application/xml'),
    createTextDocument(PATHS.faviconSvg, () => iconSvg, 'image/svg+xml'),
    { path: PATHS.faviconIco, type: 'image/x-icon', body: () => Uint8Array.fromBase64(iconBase64) },
  ]
}

const PAGES = ['/', PATHS.atlas, PATHS.paint, PATHS.llms, PATHS.llmsFull, PATHS.skill, PATHS.openapi]

/** /sitemap.xml: the pages and the documents. */
const renderSitemap = ({ offer }: Site): string => `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${PAGES.map((path) => `  <url><loc>${escapeMarkup(offer.baseUrl + path)}</loc></url>`).join('\n')}
</urlset>
`

const DAY_MS = 86_400_000
const VALID_DAYS = 90

/**
 * /.well-known/security.txt (RFC 9116), valid for 90 days from the day of `now`; `undefined` without a contact.
 */
export function renderSecurityTxt(site: Site, now: number): string | undefined {
  const contact = formatContactUri(site)
  if (contact === undefined) return undefined
  const expires = new Date((Math.floor(now / DAY_MS) + VALID_DAYS) * DAY_MS).toISOString()
  return `Contact: ${contact}
Expires: ${expires}
Preferred-Languages: en
Canonical: ${site.offer.baseUrl}${PATHS.security}
`
}
