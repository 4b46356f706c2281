/** `POST /mcp`: MCP's streamable HTTP without sessions or streams, one request and one JSON answer at a time. */

import { ErrorCode, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js'
import { failure } from '../domain/failure.ts'
import type { McpDesk } from '../mcp/desk.ts'
import { readMessage } from '../mcp/message.ts'
import { answerError, answerRequest, type Answer } from '../mcp/server.ts'
import { readJson } from './body.ts'
import { refuse } from './refuse.ts'
import { NO_STORE, respondEmpty, respondJson, type HeaderFields } from './respond.ts'
import type { Handler, Methods } from './route.ts'
import { readEdit } from './signed-body.ts'

/** What serving MCP needs; `bindHost` is the address that is listened on. */
export type McpPort = Omit<McpDesk, 'readEdit' | 'baseUrl'> & { readonly bindHost?: string }

/** What a call may take, pictures included. */
export const MCP_BODY_MAX_BYTES = 65_536

const VERSION_HEADER = 'mcp-protocol-version'

/** The verbs of `/mcp`. */
export function mcpMethods({ bindHost = '', ...port }: McpPort): Methods {
  const desk = { ...port, baseUrl: port.offer.baseUrl, readEdit }
  const ours = namesOf(desk.offer.baseUrl, bindHost)
  return {
    POST: closedToOthers(ours, (request) => serve(desk, request)),
    OPTIONS: closedToOthers(ours, () => respondEmpty(204, preflight)),
  }
}

async function serve(desk: McpDesk, request: Request): Promise<Response> {
  const read = await readJson(request, { maxBytes: MCP_BODY_MAX_BYTES })
  if ('failure' in read) {
    const { code, message } = read.failure
    if (code === 'body_too_large') return refuse(read.failure, { Connection: 'close' })
    // What is JSON, but of a kind that no request is, is told apart from what is none.
    const fault = read.unsafe === true ? ErrorCode.InvalidRequest : ErrorCode.ParseError
    return answer(400, answerError(null, { code: fault, message }), { Connection: 'close' })
  }
  const message = readMessage(read.value)
  if (message.kind === 'malformed') return answer(400, answerError(null, message.error))
  const version = request.headers.get(VERSION_HEADER)
  if (version !== null && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return answer(400, wrongVersion)
  if (message.kind === 'notification') return respondEmpty(202, NO_STORE)
  if (message.kind === 'refused') return answer(200, answerError(message.id, message.error))
  // Every client that negotiated sends the header; one that sends a bare request reads SPEC literally.
  return answer(200, await answerRequest(desk, message, version === null ? 'error' : 'result'))
}

const answer = (status: number, body: Answer, headers: HeaderFields = {}) =>
  respondJson(status, body, { ...NO_STORE, ...headers })

// The SDK's own server says it with this code, which its clients know.
const wrongVersion = answerError(null, {
  code: -32_000,
  message: `Unsupported protocol version. Supported: ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`,
})

/** Which names a request may come by: a page whose name was rebound to this machine still sends its own. */
type Names = { readonly isHost: (text: string) => boolean; readonly isOrigin: (text: string) => boolean }

/** Turns away what came by another name, and opens CORS to our own pages only. */
function closedToOthers({ isHost, isOrigin }: Names, handler: Handler): Handler {
  return async (request) => {
    const host = request.headers.get('host')
    const origin = request.headers.get('origin')
    const admitted = (host === null || isHost(host)) && (origin === null || isOrigin(origin))
    const response = admitted ? await handler(request) : refuse(forbidden())
    response.headers.delete('access-control-allow-origin')
    if (admitted && origin !== null) response.headers.set('access-control-allow-origin', origin)
    response.headers.set('vary', 'Origin')
    return response
  }
}

function namesOf(baseUrl: string, bindHost: string): Names {
  const base = new URL(baseUrl)
  const isReachedHere = loopbackAddress.test(bindHost)
  const isLoopback = ({ hostname }: URL) => isReachedHere && loopbackNames.includes(hostname)
  return {
    isHost(text) {
      const url = authorityPattern.test(text) ? URL.parse(`${base.protocol}//${text}`) : null
      return url !== null && (url.host === base.host || isLoopback(url))
    },
    isOrigin(text) {
      const url = URL.parse(text)
      return url !== null && url.origin === text && (url.origin === base.origin || isLoopback(url))
    },
  }
}

const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

const loopbackAddress = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/

// Without what would end a host, or stand before it.
const authorityPattern = /^[^/?#@\\\s]+$/

const preflight: HeaderFields = {
  'Access-Control-Allow-Methods': 'POST',
  'Access-Control-Allow-Headers': 'Content-Type, Accept, MCP-Protocol-Version, Mcp-Session-Id, Last-Event-ID',
  'Access-Control-Max-Age': '86400',
}

const forbidden = () =>
  failure('forbidden', 'This address answers under its own name only, and to no page of another origin.')
