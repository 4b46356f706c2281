/** JSON-RPC 2.0 messages from clients: one at a time, classified before the SDK sees them. */

import { isSpecType, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { RpcError } from './reply.ts'

/** The tool that converts pictures. */
export const PICTURE_TOOL = 'image_to_pixels'

export type Id = string | number

/** A message from a client. The SDK drops requests without an id; this server responds to them with the id `null`. */
export type Message =
  | { readonly kind: 'request'; readonly id: Id | null; readonly method: Method; readonly params: object | undefined }
  | { readonly kind: 'refused'; readonly id: Id | null; readonly error: RpcError } // parsed, but not served
  | { readonly kind: 'notification' }
  | { readonly kind: 'malformed'; readonly error: RpcError }

const methods = {
  initialize: isSpecType.InitializeRequest,
  ping: isSpecType.PingRequest,
  'tools/list': isSpecType.ListToolsRequest,
  'tools/call': isSpecType.CallToolRequest,
  'resources/list': isSpecType.ListResourcesRequest,
  'resources/templates/list': isSpecType.ListResourceTemplatesRequest,
  'resources/read': isSpecType.ReadResourceRequest,
} as const

export type Method = keyof typeof methods

/** Classifies a parsed body. */
export function readMessage(value: unknown): Message {
  if (Array.isArray(value)) return createMalformedMessage('send one request at a time, not a batch')
  if (typeof value !== 'object' || value === null) return createMalformedMessage('a request must be an object')
  const { jsonrpc, method, params } = value as Readonly<Record<string, unknown>>
  if (jsonrpc !== '2.0') return createMalformedMessage('jsonrpc must be "2.0"')
  if (typeof method !== 'string') return createMalformedMessage('method must be a string')
  const id = readId(value)
  if (id === undefined)
    return createMalformedMessage('id must be a string or an integer of at most 2^53 - 1 in magnitude')
  if (!isMethod(method)) return id === null ? { kind: 'notification' } : createUnknownMethodMessage(id)
  if (params !== undefined && (typeof params !== 'object' || params === null)) return createInvalidParamsMessage(id)
  if (!methods[method](value)) return createInvalidParamsMessage(id)
  return { kind: 'request', id, method, params }
}

/** Whether a message sends a picture to be converted. Only such messages may be large. */
export const sendsPicture = (message: Message): boolean =>
  message.kind === 'request' &&
  message.method === 'tools/call' &&
  Reflect.get(message.params ?? {}, 'name') === PICTURE_TOOL

/** The id of a message; `null` if there is none, `undefined` if it cannot be returned unchanged. */
function readId(message: object): Id | null | undefined {
  if (!('id' in message)) return null
  const { id } = message
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as Id) : undefined
}

const isMethod = (method: string): method is Method => Object.hasOwn(methods, method)

const createMalformedMessage = (what: string): Message => ({
  kind: 'malformed',
  error: { code: ProtocolErrorCode.InvalidRequest, message: `Invalid request: ${what}.` },
})

const createUnknownMethodMessage = (id: Id): Message => ({
  kind: 'refused',
  id,
  error: {
    code: ProtocolErrorCode.MethodNotFound,
    message: `Method not found. Methods: ${Object.keys(methods).join(', ')}.`,
  },
})

const createInvalidParamsMessage = (id: Id | null): Message => ({
  kind: 'refused',
  id,
  error: { code: ProtocolErrorCode.InvalidParams, message: 'Invalid params: they do not match this method.' },
})
