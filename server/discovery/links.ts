/** The paths of the documents, and the Link headers that point to them. */

/** Paths of the documents. */
export const PATHS = {
  openapi: '/openapi.json',
  llms: '/llms.txt',
  llmsFull: '/llms-full.txt',
  skill: '/skill.md',
  heartbeat: '/heartbeat.md',
  skills: '/.well-known/agent-skills/index.json',
  skillsV1: '/.well-known/skills/index.json',
  skillV1: '/.well-known/skills/pixel-wall/SKILL.md',
  x402: '/.well-known/x402',
  mcp: '/mcp',
  mcpJson: '/.well-known/mcp.json',
  serverCard: '/.well-known/mcp/server-card.json',
  mcpServerCard: '/mcp/server-card',
  serverJson: '/server.json',
  apiCatalog: '/.well-known/api-catalog',
  robots: '/robots.txt',
  sitemap: '/sitemap.xml',
  security: '/.well-known/security.txt',
  faviconSvg: '/favicon.svg',
  faviconIco: '/favicon.ico',
  paint: '/paint',
  health: '/api/health',
  card: '/card.png',
  atlas: '/atlas',
  atlasFeed: '/atlas.atom',
  oembed: '/oembed',
} as const

const formatLink = (path: string, rel: string, type: string) => `<${path}>; rel="${rel}"; type="${type}"`

/** The Link header of a demand for payment: the description of the service, for machines and for language models. */
export const DEMAND_LINK = [
  formatLink(PATHS.openapi, 'service-desc', 'application/json'),
  formatLink(PATHS.llms, 'service-doc', 'text/plain'),
].join(', ')

export const HOME_LINK = [
  DEMAND_LINK,
  formatLink(PATHS.skill, 'describedby', 'text/markdown'),
  formatLink('/', 'alternate', 'text/markdown'),
  formatLink(PATHS.apiCatalog, 'api-catalog', 'application/linkset+json'),
  formatLink(PATHS.health, 'status', 'application/json'),
  formatLink(PATHS.sitemap, 'sitemap', 'application/xml'),
].join(', ')
