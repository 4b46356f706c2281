/**
 * The view of the wall that MCP Apps hosts show in a chat, as a resource (ext-apps, specification 2026-01-26). Hosts
 * that do not support apps ignore it.
 */

import type { ListResourcesResult, ReadResourceResult } from '@modelcontextprotocol/server'

const URI = 'ui://pixel-wall/wall.html'
const MIME_TYPE = 'text/html;profile=mcp-app'

/** The `_meta` of a tool with a view: the current key, and the previous one, which hosts still read. */
export const SHOWN_IN_CHAT = { ui: { resourceUri: URI }, 'ui/resourceUri': URI } as const

/** The result of resources/list. */
export const listResources = (): ListResourcesResult => ({
  resources: [
    {
      uri: URI,
      name: 'wall',
      title: 'The wall, in the chat',
      description: 'Part of the wall with the picture on it, the taken blocks, and the price.',
      mimeType: MIME_TYPE,
    },
  ],
})

/**
 * The result of resources/read for a URI; `undefined` if there is no such resource. The view may make requests to this
 * wall only.
 */
export function readResource(
  uri: string,
  { html, baseUrl }: { readonly html: string; readonly baseUrl: string },
): ReadResourceResult | undefined {
  if (uri !== URI) return undefined
  const ui = { csp: { connectDomains: [new URL(baseUrl).origin] }, prefersBorder: false }
  return { contents: [{ uri: URI, mimeType: MIME_TYPE, text: html, _meta: { ui } }] }
}
