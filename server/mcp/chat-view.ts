/**
 * The view of the wall that hosts of MCP Apps show in a chat, as a resource (ext-apps, specification 2026-01-26). Hosts without apps ignore
 * it.
 */

import type { ListResourcesResult, ReadResourceResult } from '@modelcontextprotocol/server'

const URI = 'ui://pixel-wall/wall.html'
const MIME_TYPE = 'text/html;profile=mcp-app'

/** What `_meta` of a tool says, whose calls the view shows: the key of today, and the one before it, which hosts still read. */
export const SHOWN_IN_CHAT = { ui: { resourceUri: URI }, 'ui/resourceUri': URI } as const

/** What resources/list answers. */
export const resourceList = (): ListResourcesResult => ({
  resources: [
    {
      uri: URI,
      name: 'wall',
      title: 'The wall, in the chat',
      description: 'The wall around a place, with the picture on it, what is taken, and the price.',
      mimeType: MIME_TYPE,
    },
  ],
})

/** What resources/read answers of a URI; `undefined` where there is no such resource. The view may ask this wall only. */
export function readResource(
  uri: string,
  { html, baseUrl }: { readonly html: string; readonly baseUrl: string },
): ReadResourceResult | undefined {
  if (uri !== URI) return undefined
  const ui = { csp: { connectDomains: [new URL(baseUrl).origin] }, prefersBorder: false }
  return { contents: [{ uri: URI, mimeType: MIME_TYPE, text: html, _meta: { ui } }] }
}
