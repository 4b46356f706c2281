/** An agent that sends JSON-RPC to a wall, and reads the responses. */

import { expect } from 'bun:test'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import type { Payment } from '../../../server/domain/purchase/payment.ts'
import { listTools, TOOLS } from '../../../server/mcp/registry.ts'
import { BASE_URL, OFFER, toPayload, type Wall } from './wall.ts'

/** The result of tools/list on a wall with the default price. */
export const TOOL_LIST = listTools(OFFER)

/** The header of a client that negotiated a protocol revision, as all real clients do. */
export const NEGOTIATED = { 'mcp-protocol-version': '2025-11-25' }

type Fields = Readonly<Record<string, string>>

/** Posts a body to the MCP endpoint, unchanged. */
export function postBody(wall: Wall, body: string, headers: Fields = {}): Promise<Response> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
  return wall.app.handle(new Request(`${BASE_URL}/mcp`, request))
}

export type Answer = {
  readonly status: number
  readonly id?: unknown
  readonly result?: { readonly [member: string]: unknown }
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** Sends a JSON-RPC message, and reads the response. */
export async function sendRpc(wall: Wall, message: object, headers: Fields = {}): Promise<Answer> {
  const response = await postBody(wall, JSON.stringify({ jsonrpc: '2.0', ...message }), headers)
  const text = await response.text()
  const { jsonrpc: _, ...body } = text === '' ? { jsonrpc: '2.0' } : JSON.parse(text)
  return { status: response.status, ...body }
}

/** The protocol revision in which each request is self-contained. */
export const STATELESS = '2026-07-28'

/**
 * Builds a request in the `STATELESS` revision: its headers and message; `meta` and `headers` add or replace fields.
 */
export function buildStatelessRequest(method: string, params: Params = {}, meta: Params = {}, headers: Fields = {}) {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': STATELESS,
    'io.modelcontextprotocol/clientInfo': { name: 'agent', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
    ...meta,
  }
  const name = params['name'] ?? params['uri']
  const own = { 'mcp-protocol-version': STATELESS, 'mcp-method': method }
  return {
    headers: { ...own, ...(typeof name === 'string' ? { 'mcp-name': name } : {}), ...headers },
    message: { method, params: { ...params, _meta: envelope } },
  }
}

type Params = Readonly<Record<string, unknown>>

/** The result of a tool. */
export type ToolAnswer = {
  readonly isError?: boolean
  readonly structuredContent: Readonly<Record<string, unknown>>
  readonly content: ReadonlyArray<{ readonly type: string; readonly text?: string; readonly data?: string }>
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Calls a tool as a client that negotiated a revision; `payment` is in `_meta`, where x402 clients put it. */
export async function callTool(wall: Wall, name: string, args: object = {}, payment?: unknown): Promise<ToolAnswer> {
  const meta = payment === undefined ? {} : { _meta: { 'x402/payment': payment } }
  const params = { name, arguments: args, ...meta }
  const answer = await sendRpc(wall, { id: 1, method: 'tools/call', params }, NEGOTIATED)
  const result = answer.result as ToolAnswer
  expectDeclared(name, result)
  return result
}

const validator = new AjvJsonSchemaValidator()

const createValidators = (schemas: ReadonlyArray<readonly [name: string, schema: object | undefined]>) =>
  new Map(
    schemas.flatMap(([name, schema]) =>
      schema === undefined ? [] : [[name, validator.getValidator(JSON.parse(JSON.stringify(schema)))] as const],
    ),
  )

const listed = createValidators(TOOL_LIST.map(({ name, outputSchema }) => [name, outputSchema]))
const whole = createValidators(TOOLS.map(({ name, output }) => [name, output]))

/**
 * Validates every result with the schema in tools/list, like the SDK's own client, and every result that is not an
 * error with the tool's complete output schema.
 */
function expectDeclared(name: string, { structuredContent, isError }: ToolAnswer): void {
  for (const declared of isError === true ? [listed] : [listed, whole])
    expect(
      declared.get(name)?.(structuredContent).errorMessage,
      `the result of ${name} matches its schema`,
    ).toBeUndefined()
}

/** Calls a tool, checks that the text in its result is the structured content as JSON, and returns that content. */
export async function callReadTool(
  wall: Wall,
  name: string,
  args: object = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { structuredContent, content } = await callTool(wall, name, args)
  if (content[0]?.text !== JSON.stringify(structuredContent)) throw new Error('text and data differ')
  return structuredContent
}

/** Buys a block over MCP with a sample payment. */
export const buyOverMcp = (wall: Wall, args: object, payment: Payment): Promise<ToolAnswer> =>
  callTool(wall, 'buy_block', args, toPayload(payment))

/** Width and height of the PNG in a tool's result. */
export function readPictureSize({ content }: ToolAnswer): readonly [number, number] {
  const picture = content.find(({ type }) => type === 'image')
  const bytes = Buffer.from(picture?.data ?? '', 'base64')
  if (bytes.subarray(1, 4).toString('latin1') !== 'PNG') throw new Error('there is no PNG')
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
}
