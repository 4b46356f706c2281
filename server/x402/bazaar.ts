/**
 * What a catalogue of paid addresses is told of ours: the SDK's `bazaar` extension of a demand. Written out here,
 * since loading what makes it would hold up each start; a test holds it against what the SDK makes.
 */

import type { TSchema } from '@sinclair/typebox'
import { AreaOrder } from '../../shared/contract/area-order.ts'
import { ListingQuery } from '../../shared/contract/block.ts'
import { COORD_PATTERN } from '../../shared/wall.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** The tool that buys blocks. */
export const BUYING_TOOL = 'buy_block'

/** The tool that buys areas. */
export const AREA_TOOL = 'buy_area'

const listing: JsonObject = Object.fromEntries(
  Object.entries(ListingQuery.properties).map(([name, { type, minLength, maxLength, pattern }]) => [
    name,
    {
      type,
      ...(minLength === undefined ? {} : { minLength }),
      ...(maxLength === undefined ? {} : { maxLength }),
      ...(pattern === undefined ? {} : { pattern }),
    },
  ]),
)

const queryParams = object({ properties: listing })

const pathParams = object({ properties: { coord: { type: 'string', pattern: COORD_PATTERN } }, required: ['coord'] })

const input = { type: 'http', queryParams: { name: 'Ada', message: 'hello' }, method: 'GET' }

/** Of `/blocks/next`. */
export const ofNext: JsonObject = { bazaar: { info: infoOf(input), schema: schemaOf(requestSchema({ queryParams })) } }

/** Of every block by its coordinate, as one address. */
export const ofBlocks: JsonObject = {
  bazaar: {
    info: infoOf({ ...input, pathParams: { coord: '80,45' } }),
    schema: schemaOf(requestSchema({ queryParams, pathParams })),
    routeTemplate: '/blocks/:coord',
  },
}

const toolInput = {
  type: 'mcp',
  toolName: BUYING_TOOL,
  transport: 'streamable-http',
  inputSchema: object({
    properties: { coord: { type: 'string', pattern: `^next$|${COORD_PATTERN}` }, ...listing },
    required: ['coord'],
  }),
  example: { coord: 'next', name: 'Ada', message: 'hello' },
}

/** Of the tool that buys, whose identity is the address of the MCP server and its name. */
export const ofTool: JsonObject = toolOf(toolInput)

function toolOf(input: JsonObject, output?: JsonObject): JsonObject {
  return {
    bazaar: {
      info: infoOf(input, output),
      schema: schemaOf(
        object({
          properties: {
            type: { type: 'string', const: 'mcp' },
            toolName: { type: 'string' },
            transport: { type: 'string', enum: ['streamable-http'] },
            inputSchema: { type: 'object' },
            example: { type: 'object' },
          },
          required: ['type', 'toolName', 'inputSchema'],
          additionalProperties: false,
        }),
      ),
    },
  }
}

// What a schema says that a catalogue can use.
const told = ['minimum', 'maximum', 'maxLength', 'pattern'] as const

function toldOf(schema: TSchema): JsonObject {
  const choices: unknown = schema['anyOf']
  const rules = told.filter((rule) => schema[rule] !== undefined).map((rule) => [rule, schema[rule]])
  return {
    type: schema['type'] ?? 'string',
    ...Object.fromEntries(rules),
    ...(Array.isArray(choices) ? { enum: choices.map((choice: TSchema) => choice['const']) } : {}),
  }
}

const areaBody: JsonObject = object({
  properties: Object.fromEntries(Object.entries(AreaOrder.properties).map(([name, schema]) => [name, toldOf(schema)])),
  required: AreaOrder.required,
  additionalProperties: false,
})

const areaExample = { at: 'next', w: 4, h: 3, message: 'hello' }

const areaOutput = { area: '80,45,4x3', owner: 'you', pixels: 'yours' }

/** Of `/areas`, which takes what is bought in its body. */
export const ofAreas: JsonObject = {
  bazaar: {
    info: infoOf({ type: 'http', method: 'POST', bodyType: 'json', body: areaExample }, areaOutput),
    schema: schemaOf(
      object({
        properties: {
          type: { type: 'string', const: 'http' },
          method: { type: 'string', enum: ['POST'] },
          bodyType: { type: 'string', enum: ['json', 'form-data', 'text'] },
          body: areaBody,
        },
        required: ['type', 'method', 'bodyType', 'body'],
        additionalProperties: false,
      }),
    ),
  },
}

/** Of the tool that buys areas. */
export const ofAreaTool: JsonObject = toolOf(
  { type: 'mcp', toolName: AREA_TOOL, transport: 'streamable-http', inputSchema: areaBody, example: areaExample },
  areaOutput,
)

/** An example of a call and, shorter than a whole receipt to keep the header small, of its answer. */
function infoOf(
  called: JsonObject,
  example: JsonObject = { block: '80,45', owner: 'you', pixels: 'yours' },
): JsonObject {
  return { input: called, output: { type: 'json', example } }
}

/** The JSON schema of a request's part of it. */
function requestSchema(params: JsonObject): JsonObject {
  return object({
    properties: {
      type: { type: 'string', const: 'http' },
      method: { type: 'string', enum: ['GET'] },
      ...params,
    },
    required: ['type', 'method'],
    additionalProperties: false,
  })
}

/** The JSON schema of that information. */
function schemaOf(input: JsonObject): JsonObject {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...object({
      properties: {
        input,
        output: object({
          properties: { type: { type: 'string' }, example: { type: 'object' } },
          required: ['type'],
        }),
      },
      required: ['input'],
    }),
  }
}

function object(rest: JsonObject): JsonObject {
  return { type: 'object', ...rest }
}
