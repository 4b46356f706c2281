/**
 * Responds to one MCP call over HTTP through the SDK's server. This is a separate module because the SDK is slow to
 * load.
 */

import { isLegacyRequest, ProtocolErrorCode, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import { readMessage, sendsPicture, type Id } from '../mcp/message.ts'
import { readPaymentOfSale } from '../mcp/payment.ts'
import { answerError, answerRequest, answerStateless, STATELESS_VERSION, type RpcResponse } from '../mcp/server.ts'
import type { McpDeps } from '../mcp/tool.ts'
import { IMAGE_MAX_BYTES } from '../mcp/tools/image-to-pixels.ts'
import { CLOSE_CONNECTION, refuse } from './answer/refuse.ts'
import { NO_STORE, respondEmpty, respondJson, type HeaderFields } from './answer/respond.ts'
import { readJson, createSizeFailure, type ReadBody } from './request/body.ts'
import { refuseOverBudget, type Clients, type Uploads } from './request/clients.ts'

/** The size limit of a call, in bytes. */
export const MCP_BODY_MAX_BYTES = 65_536

// A call with a picture to convert may be this large: the limit of a picture in base64 plus a limit for the rest of the
// call.
const PICTURE_CALL_MAX_BYTES = Math.ceil((IMAGE_MAX_BYTES * 4) / 3) + 16_384

const VERSION_HEADER = 'mcp-protocol-version'

type Callers = { readonly clients: Clients; readonly readUpload: Uploads }

export async function answerCall(deps: McpDeps, request: Request, { clients, readUpload }: Callers): Promise<Response> {
  const read = await readUpload(request, (limits) =>
    readJson(request, { ...limits, maxBytes: PICTURE_CALL_MAX_BYTES }).then(refuseLargeNonPicture),
  )
  if (read.kind === 'failure') {
    const refused = refuseOverBudget(clients, 'calls', request)
    if (refused !== undefined) return refused
    const { code, message } = read
    if (code !== 'invalid_body') return refuse(read, CLOSE_CONNECTION)
    // JSON-RPC has different errors for invalid JSON and for JSON that is not a request.
    const fault = read.unsafe === true ? ProtocolErrorCode.InvalidRequest : ProtocolErrorCode.ParseError
    return respondRpc(400, answerError(null, { code: fault, message }), CLOSE_CONNECTION)
  }
  const message = readMessage(read.value)
  const payment = readPaymentOfSale(message, deps.offer)
  const address = clients.getClientAddress(request)
  const refusal =
    payment === undefined
      ? (clients.limits.take('calls', address) ?? (await clients.queue.waitForTurn(address)))
      : await clients.admitPayment(payment, address)
  if (refusal !== undefined) return refuse(refusal)
  if (message.kind === 'malformed') return respondRpc(400, answerError(null, message.error))
  const from = { address, signal: request.signal }
  const isReadable = message.kind !== 'refused' || message.error.code === ProtocolErrorCode.MethodNotFound
  if (isReadable && !(await isLegacyRequest(request, read.value))) {
    const response = await answerStateless(deps, request, read.value, { dialect: 'result', ...from })
    return response.body === null
      ? respondEmpty(202, NO_STORE)
      : respondRpc(response.status, (await response.json()) as RpcResponse)
  }
  const version = request.headers.get(VERSION_HEADER)
  if (version !== null && !SUPPORTED_PROTOCOL_VERSIONS.includes(version))
    return respondRpc(400, answerWrongVersion('id' in message ? message.id : null, version))
  if (message.kind === 'notification') return respondEmpty(202, NO_STORE)
  if (message.kind === 'refused') return respondRpc(200, answerError(message.id, message.error))
  // Clients that negotiated a version send the header. Other clients follow this service's own specification literally.
  return respondRpc(
    200,
    await answerRequest(deps, message, { dialect: version === null ? 'error' : 'result', ...from }),
  )
}

/** Refuses a large body unless its call converts a picture. */
function refuseLargeNonPicture(read: ReadBody): ReadBody {
  const size = read.kind === 'read' ? read.bytes.length : (read.size ?? 0)
  const isAllowed = size <= MCP_BODY_MAX_BYTES || (read.kind === 'read' && sendsPicture(readMessage(read.value)))
  return isAllowed ? read : createSizeFailure(MCP_BODY_MAX_BYTES)
}

const respondRpc = (status: number, body: RpcResponse, headers: HeaderFields = {}) =>
  respondJson(status, body, { ...NO_STORE, ...headers })

const supported = [STATELESS_VERSION, ...SUPPORTED_PROTOCOL_VERSIONS]

const answerWrongVersion = (id: Id | null, requested: string) =>
  answerError(id, {
    code: ProtocolErrorCode.UnsupportedProtocolVersion,
    message: `Unsupported protocol version. Supported: ${supported.join(', ')}.`,
    data: { supported, requested },
  })
