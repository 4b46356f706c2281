/** One call of MCP over HTTP: read, sorted, and answered by the SDK's server. Apart, because the SDK takes a while to load. */

import { ErrorCode, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js'
import type { McpDesk } from '../mcp/desk.ts'
import { bringsPayment, readMessage } from '../mcp/message.ts'
import { answerError, answerRequest, type Answer } from '../mcp/server.ts'
import { readJson } from './body.ts'
import { refuseBeyond, type Clients } from './clients.ts'
import { refuse } from './refuse.ts'
import { NO_STORE, respondEmpty, respondJson, type HeaderFields } from './respond.ts'

/** What a call may take, pictures included. */
export const MCP_BODY_MAX_BYTES = 65_536

const VERSION_HEADER = 'mcp-protocol-version'

/** Answers a call. */
export async function answerCall(desk: McpDesk, request: Request, clients: Clients): Promise<Response> {
  const read = await readJson(request, { maxBytes: MCP_BODY_MAX_BYTES })
  if ('failure' in read) {
    const refused = refuseBeyond(clients, 'calls', request)
    if (refused !== undefined) return refused
    const { code, message } = read.failure
    if (code === 'body_too_large') return refuse(read.failure, { Connection: 'close' })
    // What is JSON, but of a kind that no request is, is told apart from what is none.
    const fault = read.unsafe === true ? ErrorCode.InvalidRequest : ErrorCode.ParseError
    return answer(400, answerError(null, { code: fault, message }), { Connection: 'close' })
  }
  const message = readMessage(read.value)
  if (bringsPayment(message)) await clients.queue.paymentTurn()
  else {
    const refused = refuseBeyond(clients, 'calls', request)
    if (refused !== undefined) return refused
    const busy = await clients.queue.turn()
    if (busy !== undefined) return refuse(busy)
  }
  if (message.kind === 'malformed') return answer(400, answerError(null, message.error))
  const version = request.headers.get(VERSION_HEADER)
  if (version !== null && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return answer(400, wrongVersion)
  if (message.kind === 'notification') return respondEmpty(202, NO_STORE)
  if (message.kind === 'refused') return answer(200, answerError(message.id, message.error))
  // Every client that negotiated sends the header; one that sends a bare request reads SPEC literally.
  return answer(
    200,
    await answerRequest(desk, message, {
      dialect: version === null ? 'error' : 'result',
      address: clients.addressOf(request),
    }),
  )
}

const answer = (status: number, body: Answer, headers: HeaderFields = {}) =>
  respondJson(status, body, { ...NO_STORE, ...headers })

// The SDK's own server says it with this code, which its clients know.
const wrongVersion = answerError(null, {
  code: -32_000,
  message: `Unsupported protocol version. Supported: ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`,
})
