import { expect, test } from 'bun:test'
import { openWall } from '../../http/wall.ts'
import { paymentOf } from '../../ports/samples.ts'
import { buy, callTool, definitionOf, pictureSize, read } from '../agent.ts'

// For what changes nothing.
const untouched = openWall()

test('the definition', () => {
  expect(definitionOf('preview_block')).toMatchInlineSnapshot(`
    {
      "annotations": {
        "destructiveHint": false,
        "idempotentHint": true,
        "openWorldHint": false,
        "readOnlyHint": true,
      },
      "description": "Use before buy_block, with the same arguments, or with w and h before buy_area: would they be accepted, which block or area would it be, on which terms, and how would it look among its neighbours. Not to buy and no reservation: another buyer may be quicker. Free, no side effects. Errors: invalid_coordinate, invalid_area, invalid_body, too_many_requests, database_unavailable; flaws of the listing are no errors but come as problems, all at once. Returns {acceptable, problems, block, area, state, price, request, terms} and a PNG of the place, up to eight times its size.",
      "inputSchema": {
        "additionalProperties": false,
        "properties": {
          "coord": {
            "description": "\`next\` for the open block nearest the centre, or a block’s \`col,row\`: col 0 to 159, row 0 to 89.",
            "examples": [
              "next",
              "80,45",
            ],
            "pattern": "^(?:next|\\d{1,3},\\d{1,3})$",
            "type": "string",
          },
          "framework": {
            "description": "What the agent runs on.",
            "examples": [
              "eliza",
            ],
            "maxLength": 32,
            "minLength": 1,
            "type": "string",
          },
          "h": {
            "description": "Height in blocks. Default 1.",
            "examples": [
              3,
            ],
            "maximum": 90,
            "minimum": 1,
            "type": "integer",
          },
          "link": {
            "description": "Where the block leads: an ASCII https URI of at most 200 characters, with a host and without user information. Never fetched.",
            "examples": [
              "https://example.org/",
            ],
            "format": "uri",
            "maxLength": 200,
            "pattern": "^https://",
            "type": "string",
          },
          "message": {
            "description": "Text shown with the block.",
            "examples": [
              "hello, world",
            ],
            "maxLength": 140,
            "minLength": 1,
            "type": "string",
          },
          "name": {
            "description": "Display name of the wallet, shared by all its blocks.",
            "examples": [
              "Ada",
            ],
            "maxLength": 40,
            "minLength": 1,
            "type": "string",
          },
          "painter": {
            "description": "Address whose signatures count as the owner’s for repaints, and for nothing else.",
            "examples": [
              "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf",
            ],
            "pattern": "^0x[0-9a-fA-F]{40}$",
            "type": "string",
          },
          "pixels": {
            "contentEncoding": "base64",
            "description": "Of an area, instead of px: palette indices in base64. Example: AAEC.",
            "type": "string",
          },
          "px": {
            "description": "The picture: 100 pixels row by row from the top left, two hex digits each (200 in all), an index into get_wall’s palette from 00 to ef. Example: b4 a hundred times is all red. image_to_pixels makes it from a picture.",
            "pattern": "^[0-9a-fA-F]{200}$",
            "type": "string",
          },
          "w": {
            "description": "Width in blocks, of an area whose top left block is coord. Default 1.",
            "examples": [
              4,
            ],
            "maximum": 160,
            "minimum": 1,
            "type": "integer",
          },
        },
        "required": [
          "coord",
        ],
        "type": "object",
      },
      "name": "preview_block",
      "outputSchema": {
        "anyOf": [
          {
            "required": [
              "acceptable",
              "problems",
              "block",
              "area",
              "state",
              "price",
              "request",
              "terms",
            ],
          },
          {
            "required": [
              "error",
              "message",
            ],
          },
        ],
        "properties": {
          "acceptable": {
            "type": "boolean",
          },
          "area": {
            "anyOf": [
              {
                "type": "string",
              },
              {
                "type": "null",
              },
            ],
          },
          "block": {
            "anyOf": [
              {
                "properties": {
                  "coord": {
                    "type": "string",
                  },
                  "index": {
                    "type": "integer",
                  },
                },
                "required": [
                  "coord",
                  "index",
                ],
                "type": "object",
              },
              {
                "type": "null",
              },
            ],
          },
          "price": {
            "properties": {
              "amount": {
                "type": "string",
              },
              "asset": {
                "const": "USDC",
                "type": "string",
              },
              "network": {
                "type": "string",
              },
            },
            "required": [
              "amount",
              "asset",
              "network",
            ],
            "type": "object",
          },
          "problems": {
            "items": {
              "properties": {
                "code": {
                  "type": "string",
                },
                "field": {
                  "type": "string",
                },
                "message": {
                  "type": "string",
                },
              },
              "required": [
                "field",
                "code",
                "message",
              ],
              "type": "object",
            },
            "type": "array",
          },
          "request": {
            "properties": {
              "body": {
                "patternProperties": {
                  "^(.*)$": {},
                },
                "type": "object",
              },
              "method": {
                "anyOf": [
                  {
                    "const": "GET",
                    "type": "string",
                  },
                  {
                    "const": "POST",
                    "type": "string",
                  },
                ],
              },
              "url": {
                "type": "string",
              },
            },
            "required": [
              "method",
              "url",
            ],
            "type": "object",
          },
          "state": {
            "anyOf": [
              {
                "const": "open",
                "type": "string",
              },
              {
                "const": "reserved",
                "type": "string",
              },
              {
                "const": "claimed",
                "type": "string",
              },
            ],
          },
          "terms": {
            "anyOf": [
              {
                "patternProperties": {
                  "^(.*)$": {},
                },
                "type": "object",
              },
              {
                "type": "null",
              },
            ],
          },
        },
        "type": "object",
      },
      "title": "Try a purchase for free",
    }
  `)
})

test('what buying would accept is told with the block, the terms and a picture of the place', async () => {
  const answer = await callTool(await untouched, 'preview_block', { coord: 'next', name: 'Ada', px: '07'.repeat(100) })
  expect(answer.structuredContent).toMatchInlineSnapshot(`
    {
      "acceptable": true,
      "area": null,
      "block": {
        "coord": "79,44",
        "index": 7119,
      },
      "price": {
        "amount": "1.00",
        "asset": "USDC",
        "network": "eip155:8453",
      },
      "problems": [],
      "request": {
        "method": "GET",
        "url": "https://wall.test/blocks/next?name=Ada&px=07070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707",
      },
      "state": "open",
      "terms": {
        "amount": "1000000",
        "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "extra": {
          "name": "USD Coin",
          "primaryType": "TransferWithAuthorization",
          "version": "2",
        },
        "maxTimeoutSeconds": 300,
        "network": "eip155:8453",
        "payTo": "0x00000000000000000000000000000000000A11cE",
        "scheme": "exact",
      },
    }
  `)
  expect(pictureSize(answer).every((side) => side >= 80)).toBe(true)
})

test('every flaw is told at once, and so is a block that is gone', async () => {
  const wall = await openWall()
  await buy(wall, { coord: '3,4' }, paymentOf(1, 1))
  const { acceptable, problems } = await read(wall, 'preview_block', { coord: '3,4', name: '\u202e', link: 5, px: 'x' })
  expect(acceptable).toBe(false)
  expect((problems as { field: string; code: string }[]).map(({ field, code }) => [field, code])).toEqual([
    ['coord', 'block_taken'],
    ['name', 'invalid_listing'],
    ['link', 'invalid_listing'],
    ['px', 'invalid_pixels'],
  ])
})

test('what names no block, or is misspelt, is refused', async () => {
  const wall = await untouched
  expect(await read(wall, 'preview_block', { coord: 'x' })).toMatchObject({ error: 'invalid_coordinate' })
  expect(await read(wall, 'preview_block', { coord: '3,4', colour: 'x' })).toMatchObject({ error: 'invalid_body' })
})
