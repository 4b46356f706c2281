/** Route `POST /mcp`: MCP over streamable HTTP, without sessions or streams, so each request gets a single response. */

import { Elysia } from 'elysia'
import { RpcAnswer, RpcRequest } from '../../shared/contract/service.ts'
import { documentOperation, type OperationDocs } from '../discovery/openapi/operation.ts'
import { createFailure } from '../domain/failure.ts'
import type { McpDeps } from '../mcp/tool.ts'
import { refuse } from './answer/refuse.ts'
import { respondEmpty, type HeaderFields } from './answer/respond.ts'
import type { Clients, Uploads } from './request/clients.ts'

/** Dependencies of the MCP route. `bindHost` is the address that the server listens on. */
export type McpPort = Omit<McpDeps, 'baseUrl' | 'limits'> & {
  readonly bindHost?: string
  readonly clients: Clients
  readonly readUpload: Uploads
}

/** Loads the module that handles calls, so that the first call does not wait for it. */
export const loadMcpCalls = async () => await import('./mcp-call.ts')

export function createMcpRoutes({ bindHost = '', clients, readUpload, ...port }: McpPort) {
  const deps = { ...port, baseUrl: port.offer.baseUrl, limits: clients.limits }
  const guardRequest = createHostGuard(createNameChecks(deps.offer.baseUrl, bindHost))
  return new Elysia({ name: 'mcp' })
    .post(
      '/mcp',
      async ({ request }) =>
        await guardRequest(request, async () =>
          (await loadMcpCalls()).answerCall(deps, request, { clients, readUpload }),
        ),
      { parse: 'none', ...documentOperation(DOCS.callMcp) },
    )
    .options('/mcp', async ({ request }) => await guardRequest(request, async () => respondEmpty(204, preflight)))
}

/**
 * Which values of Host and Origin are accepted. Checking them prevents DNS rebinding, because a page whose name was
 * rebound to this machine still sends that name. `isPublic` says whether pages of any origin may call; on a loopback
 * name only local pages may.
 */
type Names = {
  readonly isHost: (text: string) => boolean
  readonly isOrigin: (text: string) => boolean
  readonly isPublic: (host: string | null) => boolean
}

/**
 * Refuses requests for a host name that `isHost` rejects, and on a loopback name also requests from pages of other
 * origins.
 */
function createHostGuard({ isHost, isOrigin, isPublic }: Names) {
  return async (request: Request, answer: () => Promise<Response>): Promise<Response> => {
    const host = request.headers.get('host')
    const origin = request.headers.get('origin')
    const isOpen = isPublic(host)
    const admitted = (host === null || isHost(host)) && (origin === null || isOpen || isOrigin(origin))
    const response = admitted ? await answer() : refuse(createForbiddenFailure())
    if (admitted && isOpen) return response
    response.headers.delete('access-control-allow-origin')
    if (admitted && origin !== null) response.headers.set('access-control-allow-origin', origin)
    response.headers.set('vary', 'Origin')
    return response
  }
}

function createNameChecks(baseUrl: string, bindHost: string): Names {
  const base = new URL(baseUrl)
  const isReachedHere = loopbackAddress.test(bindHost)
  const isLoopback = ({ hostname }: URL) => isReachedHere && loopbackNames.includes(hostname)
  return {
    isHost(text) {
      const url = authorityPattern.test(text) ? URL.parse(`${base.protocol}//${text}`) : null
      return url !== null && (url.host === base.host || isLoopback(url))
    },
    isPublic(text) {
      const url = text === null ? base : URL.parse(`${base.protocol}//${text}`)
      return url?.host === base.host && !loopbackNames.includes(base.hostname)
    },
    isOrigin(text) {
      const url = URL.parse(text)
      return url !== null && url.origin === text && (url.origin === base.origin || isLoopback(url))
    },
  }
}

const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

const loopbackAddress = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/

// Excludes the characters that mark the start or the end of a host in a URL.
const authorityPattern = /^[^/?#@\\\s]+$/

const preflight: HeaderFields = {
  'Access-Control-Allow-Methods': 'POST',
  'Access-Control-Allow-Headers':
    'Content-Type, Accept, Authorization, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID',
  'Access-Control-Max-Age': '86400',
}

const createForbiddenFailure = () =>
  createFailure(
    'forbidden',
    'This server accepts only requests for its own host name. On a loopback name, it also rejects requests from pages of another origin.',
  )

const DOCS = {
  callMcp: {
    id: 'callMcp',
    summary: 'Use the wall as MCP tools',
    description:
      'MCP over streamable HTTP without sessions: one JSON-RPC 2.0 request per POST, one JSON response. tools/list describes the tools. Requests for another host name are rejected. On a loopback name, requests from pages of another origin are also rejected.',
    body: RpcRequest,
    answers: [RpcAnswer],
    also: {
      202: { what: 'The notification was accepted.' },
      400: {
        what: 'The body is not a single JSON-RPC 2.0 request, or the protocol version is unknown.',
        schema: RpcAnswer,
      },
    },
    codes: ['forbidden', 'body_too_large', 'too_many_requests', 'server_busy', 'internal_error'],
  },
} satisfies Record<string, OperationDocs>
