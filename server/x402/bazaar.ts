/**
 * Describes our paid endpoints to catalogues, in the SDK's `bazaar` extension of a payment demand. The extension is
 * written out here, because loading the SDK's generator would slow down each start; a test compares it with the
 * generated one.
 */

import type { TSchema } from '@sinclair/typebox'
import { AreaOrder } from '../../shared/contract/area-order.ts'
import { ListingQuery } from '../../shared/contract/block.ts'
import { COORD_PATTERN } from '../../shared/wall.ts'

type JsonObject = Readonly<Record<string, unknown>>

export const BUYING_TOOL = 'buy_block'

export const AREA_TOOL = 'buy_area'

/** Those of the given rules that a schema has. */
const pickRules = (schema: TSchema, rules: readonly string[]): JsonObject =>
  Object.fromEntries(rules.filter((rule) => schema[rule] !== undefined).map((rule) => [rule, schema[rule]]))

const listing: JsonObject = Object.fromEntries(
  Object.entries(ListingQuery.properties).map(([name, schema]) => [
    name,
    pickRules(schema, ['type', 'minLength', 'maxLength', 'pattern']),
  ]),
)

const queryParams = createObjectSchema({ properties: listing })

const pathParams = createObjectSchema({
  properties: { coord: { type: 'string', pattern: COORD_PATTERN } },
  required: ['coord'],
})

const input = { type: 'http', queryParams: { name: 'Ada', message: 'hello' }, method: 'GET' }

// These examples are shorter than whole receipts, to keep the header small.
const blockAnswer = { block: '80,45', owner: 'you', pixels: 'yours' }
const areaAnswer = { area: '80,45,4x3', owner: 'you', pixels: 'yours' }

export const ofNext: JsonObject = { bazaar: createEntry(input, createHttpSchema('GET', { queryParams }), blockAnswer) }

/** The entry of all blocks that are bought by coordinate; a catalogue lists them as one endpoint. */
export const ofBlocks: JsonObject = {
  bazaar: {
    ...createEntry(
      { ...input, pathParams: { coord: '80,45' } },
      createHttpSchema('GET', { queryParams, pathParams }),
      blockAnswer,
    ),
    routeTemplate: '/blocks/:coord',
  },
}

/** The entry of the tool that buys blocks. */
export const ofTool: JsonObject = createToolEntry(
  BUYING_TOOL,
  createObjectSchema({
    properties: { coord: { type: 'string', pattern: `^next$|${COORD_PATTERN}` }, ...listing },
    required: ['coord'],
  }),
  { coord: 'next', name: 'Ada', message: 'hello' },
  blockAnswer,
)

const areaBody: JsonObject = createObjectSchema({
  properties: Object.fromEntries(
    Object.entries(AreaOrder.properties).map(([name, schema]) => [name, toAreaField(schema)]),
  ),
  required: AreaOrder.required,
  additionalProperties: false,
})

function toAreaField(schema: TSchema): JsonObject {
  const choices: unknown = schema['anyOf']
  return {
    type: schema['type'] ?? 'string',
    ...pickRules(schema, ['minimum', 'maximum', 'maxLength', 'pattern']),
    ...(Array.isArray(choices) ? { enum: choices.map((choice: TSchema) => choice['const']) } : {}),
  }
}

const areaExample = { at: 'next', w: 4, h: 3, message: 'hello' }

/** The entry of `/areas`, which takes the order in the request body. */
export const ofAreas: JsonObject = {
  bazaar: createEntry(
    { type: 'http', method: 'POST', bodyType: 'json', body: areaExample },
    createHttpSchema('POST', { bodyType: { type: 'string', enum: ['json', 'form-data', 'text'] }, body: areaBody }, [
      'bodyType',
      'body',
    ]),
    areaAnswer,
  ),
}

/** The entry of the tool that buys areas. */
export const ofAreaTool: JsonObject = createToolEntry(AREA_TOOL, areaBody, areaExample, areaAnswer)

/** A tool's entry. A tool is identified by the URL of the MCP server and the tool's name. */
function createToolEntry(
  toolName: string,
  inputSchema: JsonObject,
  example: JsonObject,
  answer: JsonObject,
): JsonObject {
  const schema = createObjectSchema({
    properties: {
      type: { type: 'string', const: 'mcp' },
      toolName: { type: 'string' },
      transport: { type: 'string', enum: ['streamable-http'] },
      inputSchema: { type: 'object' },
      example: { type: 'object' },
    },
    required: ['type', 'toolName', 'inputSchema'],
    additionalProperties: false,
  })
  return {
    bazaar: createEntry({ type: 'mcp', toolName, transport: 'streamable-http', inputSchema, example }, schema, answer),
  }
}

function createHttpSchema(method: 'GET' | 'POST', params: JsonObject, required: readonly string[] = []): JsonObject {
  return createObjectSchema({
    properties: { type: { type: 'string', const: 'http' }, method: { type: 'string', enum: [method] }, ...params },
    required: ['type', 'method', ...required],
    additionalProperties: false,
  })
}

/** An example of a call and of its response, and the JSON schema of both. */
function createEntry(called: JsonObject, inputSchema: JsonObject, answer: JsonObject): JsonObject {
  const output = createObjectSchema({
    properties: { type: { type: 'string' }, example: { type: 'object' } },
    required: ['type'],
  })
  return {
    info: { input: called, output: { type: 'json', example: answer } },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      ...createObjectSchema({ properties: { input: inputSchema, output }, required: ['input'] }),
    },
  }
}

function createObjectSchema(rest: JsonObject): JsonObject {
  return { type: 'object', ...rest }
}
