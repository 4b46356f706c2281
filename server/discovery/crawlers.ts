/** What crawlers and finders of faults look for: robots.txt, sitemap.xml and security.txt. */

import { PATHS } from './links.ts'
import { contactUri, type Site } from './site.ts'

// Named because a crawler may take silence about itself for a no.
const AGENTS = [
  'GPTBot',
  'OAI-SearchBot',
  'ChatGPT-User',
  'ClaudeBot',
  'Claude-User',
  'Claude-SearchBot',
  'PerplexityBot',
  'Perplexity-User',
  'Google-Extended',
  'Applebot-Extended',
  'Amazonbot',
  'Bytespider',
  'CCBot',
  'meta-externalagent',
]

const WELCOME = 'Content-Signal: search=yes, ai-input=yes, ai-train=yes\nAllow: /'

/** /robots.txt: machines are who the wall is for. */
export const robotsTxt = ({
  offer,
}: Site): string => `# Agents are welcome: this wall is for them. Start at ${offer.baseUrl}${PATHS.llms}
User-agent: *
${WELCOME}

${AGENTS.map((name) => `User-agent: ${name}`).join('\n')}
${WELCOME}

Sitemap: ${offer.baseUrl}${PATHS.sitemap}
`

const PAGES = ['/', PATHS.atlas, PATHS.paint, PATHS.llms, PATHS.llmsFull, PATHS.skill, PATHS.openapi]

/** /sitemap.xml: the pages and the documents. */
export const sitemapXml = ({ offer }: Site): string => `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${PAGES.map((path) => `  <url><loc>${inXml(offer.baseUrl + path)}</loc></url>`).join('\n')}
</urlset>
`

const inXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const DAY_MS = 86_400_000
const VALID_DAYS = 90

/** /.well-known/security.txt (RFC 9116), good for three months from the day of `now`; nothing without a contact to name. */
export function securityTxt(site: Site, now: number): string | undefined {
  const contact = contactUri(site)
  if (contact === undefined) return undefined
  const expires = new Date((Math.floor(now / DAY_MS) + VALID_DAYS) * DAY_MS).toISOString()
  return `Contact: ${contact}
Expires: ${expires}
Preferred-Languages: en
Canonical: ${site.offer.baseUrl}${PATHS.security}
`
}
