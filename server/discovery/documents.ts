/** Every document that depends on the settings alone, with its address and media type. */

import { robotsTxt, sitemapXml } from './crawlers.ts'
import { guide } from './guide/guide.ts'
import { faviconIco, faviconSvg } from './icon.ts'
import { PATHS } from './links.ts'
import { llmsFullTxt, llmsTxt } from './reference.ts'
import type { Site } from './site.ts'
import { skill } from './skill.ts'
import {
  agentJson,
  apiCatalog,
  serverCard,
  serverJson,
  skillsIndex,
  skillsIndexV1,
  x402Resources,
} from './well-known.ts'

/** What is served at a path. */
export type Document = { readonly path: string; readonly type: string; readonly body: string | Uint8Array<ArrayBuffer> }

export const JSON_TYPE = 'application/json'
export const MARKDOWN = 'text/markdown; charset=utf-8'
export const PLAIN = 'text/plain; charset=utf-8'
const CATALOG = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'

/** The guide as the homepage gives it to whoever asks for Markdown. */
export const homeGuide = (site: Site): Document => ({ path: '/', type: MARKDOWN, body: guide(site) })

/** All the others. */
export function documents(site: Site): readonly Document[] {
  const theSkill = skill(site)
  const json = (path: string, value: unknown, type = JSON_TYPE): Document => ({
    path,
    type,
    body: JSON.stringify(value),
  })
  const text = (path: string, body: string, type = PLAIN): Document => ({ path, type, body })
  return [
    text(PATHS.llms, llmsTxt(site)),
    text(PATHS.llmsFull, llmsFullTxt(site)),
    text(PATHS.skill, theSkill, MARKDOWN),
    text(PATHS.skillUpper, theSkill, MARKDOWN),
    json(PATHS.skills, skillsIndex(site, theSkill)),
    json(PATHS.skillsV1, skillsIndexV1(site)),
    text(PATHS.skillV1, theSkill, MARKDOWN),
    json(PATHS.x402, x402Resources(site)),
    json(PATHS.x402Json, x402Resources(site)),
    json(PATHS.mcpJson, serverCard(site)),
    json(PATHS.serverCard, serverCard(site)),
    json(PATHS.mcpServerCard, serverCard(site), 'application/mcp-server-card+json'),
    json(PATHS.serverJson, serverJson(site)),
    json(PATHS.apiCatalog, apiCatalog(site), CATALOG),
    json(PATHS.agent, agentJson(site)),
    text(PATHS.robots, robotsTxt(site)),
    text(PATHS.sitemap, sitemapXml(site), 'application/xml'),
    text(PATHS.faviconSvg, faviconSvg(), 'image/svg+xml'),
    { path: PATHS.faviconIco, type: 'image/x-icon', body: faviconIco() },
  ]
}
