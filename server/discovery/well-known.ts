/**
 * The small JSON documents that clients, registries and graders request, each in the format of its own specification.
 */

import { sha256 } from 'viem/utils'
import { AREAS_PATH } from '../x402/terms.ts'
import { renderEssentials } from './guide.ts'
import { PATHS } from './links.ts'
import type { Json } from './openapi/schemas.ts'
import { renderSkillDescription, SKILL_NAME } from './reference.ts'
import { readHostName, listIcons, renderTagline, VERSION, type Site } from './site.ts'

/**
 * /.well-known/x402: the paid addresses. It is superseded by the OpenAPI document, but many clients still request it.
 */
export const listX402Resources = (site: Site): Json => ({
  version: 1,
  resources: ['/blocks/next', AREAS_PATH, PATHS.mcp].map((path) => site.offer.baseUrl + path),
  ownershipProofs: site.offer.ownershipProofs ?? [],
  instructions: renderEssentials(site).join('\n'),
})

/** /.well-known/agent-skills/index.json, version 0.2.0, with the digest of the document `skill`. */
export const createSkillsIndex = (site: Site, skill: string): Json => ({
  $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
  skills: [
    {
      name: SKILL_NAME,
      type: 'skill-md',
      description: renderSkillDescription(site),
      url: PATHS.skill,
      digest: `sha256:${sha256(new TextEncoder().encode(skill)).slice(2)}`,
    },
  ],
})

/** /.well-known/skills/index.json, version 0.1, for older installers: it lists files next to the index. */
export const createSkillsIndexV1 = (site: Site): Json => ({
  skills: [{ name: SKILL_NAME, description: renderSkillDescription(site), files: ['SKILL.md'] }],
})

/** The name of the MCP server in registries: the reversed host, a slash, the service. */
export const formatRegistryName = (site: Site): string =>
  `${readHostName(site)
    .replaceAll(/[^a-zA-Z0-9.-]/g, '-')
    .split('.')
    .toReversed()
    .join('.')}/${SKILL_NAME}`

const listRemotes = ({ offer }: Site) => [{ type: 'streamable-http', url: offer.baseUrl + PATHS.mcp }]

const describeIdentity = (site: Site) => ({
  name: formatRegistryName(site),
  title: site.offer.title,
  description: renderTagline(site),
  version: VERSION,
  websiteUrl: `${site.offer.baseUrl}/`,
  icons: listIcons(site.offer),
})

/** /server.json: the entry for the MCP registry. */
export const createServerJson = (site: Site): Json => ({
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  ...describeIdentity(site),
  remotes: listRemotes(site),
})

/** The MCP server card (SEP-2127), with the URL to connect to. The server itself lists the tools. */
export const createServerCard = (site: Site): Json => ({
  $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
  ...describeIdentity(site),
  remotes: listRemotes(site),
})

/** /.well-known/api-catalog: a linkset (RFC 9264) with an anchor for each interface (RFC 9727). */
export function createApiCatalog({ offer }: Site): Json {
  const createTarget = (path: string, type: string) => [{ href: offer.baseUrl + path, type }]
  return {
    linkset: [
      {
        anchor: `${offer.baseUrl}/`,
        'service-desc': createTarget(PATHS.openapi, 'application/json'),
        'service-doc': [...createTarget(PATHS.llmsFull, 'text/plain'), ...createTarget(PATHS.skill, 'text/markdown')],
        status: createTarget(PATHS.health, 'application/json'),
      },
      {
        anchor: offer.baseUrl + PATHS.mcp,
        'service-desc': createTarget(PATHS.serverCard, 'application/json'),
        'service-doc': createTarget(PATHS.llmsFull, 'text/plain'),
      },
    ],
  }
}
