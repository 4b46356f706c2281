/**
 * What a catalogue of paid addresses is told of ours: the SDK's `bazaar` extension of a demand. Written out here,
 * since loading what makes it would hold up each start; a test holds it against what the SDK makes.
 */

import { ListingQuery } from '../../shared/contract/block.ts'
import { COORD_PATTERN } from '../../shared/wall.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** The tool that buys. */
export const BUYING_TOOL = 'buy_block'

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
export const ofTool: JsonObject = {
  bazaar: {
    info: infoOf(toolInput),
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

/** An example of a call and, shorter than a whole receipt to keep the header small, of its answer. */
function infoOf(called: JsonObject): JsonObject {
  return { input: called, output: { type: 'json', example: { block: '80,45', owner: 'you', pixels: 'yours' } } }
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
