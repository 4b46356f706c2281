import { expect, test } from 'bun:test'
import { openWall } from '../../http/wall.ts'
import { paymentOf } from '../../ports/samples.ts'
import { buy, definitionOf, read } from '../agent.ts'

// For what changes nothing.
const untouched = openWall()

test('the definition', () => {
  expect(definitionOf('find_space')).toMatchInlineSnapshot(`
    {
      "annotations": {
        "destructiveHint": false,
        "idempotentHint": true,
        "openWorldHint": false,
        "readOnlyHint": true,
      },
      "description": "Use to find open rectangles of w x h blocks, nearest the wall’s centre or a block you name. Not for single blocks (list_unclaimed). Free, no side effects: nothing is held, so another buyer may be quicker; buy one whole with buy_area (at is its coord). Errors: invalid_size, invalid_coordinate, invalid_limit, too_many_requests, database_unavailable. Returns {w, h, asset, note, spaces}: each with coord (its top left block), blocks in buying order and price for all; nearest first, none sharing a block, empty when there is no room, fewer than limit when they are large.",
      "inputSchema": {
        "additionalProperties": false,
        "properties": {
          "h": {
            "default": 1,
            "description": "Height in blocks of 10 pixels, 1 to 90. Default 1.",
            "maximum": 90,
            "minimum": 1,
            "type": "integer",
          },
          "limit": {
            "default": 3,
            "description": "How many rectangles, 1 to 20. Default 3.",
            "maximum": 20,
            "minimum": 1,
            "type": "integer",
          },
          "near": {
            "description": "The block to be near, \`col,row\`: col 0 to 159 from the left, row 0 to 89 from the top. Default: the wall’s centre.",
            "examples": [
              "80,45",
            ],
            "pattern": "^\\d{1,3},\\d{1,3}$",
            "type": "string",
          },
          "w": {
            "default": 1,
            "description": "Width in blocks of 10 pixels, 1 to 160. Default 1.",
            "maximum": 160,
            "minimum": 1,
            "type": "integer",
          },
        },
        "type": "object",
      },
      "name": "find_space",
      "outputSchema": {
        "anyOf": [
          {
            "required": [
              "w",
              "h",
              "asset",
              "note",
              "spaces",
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
          "asset": {
            "const": "USDC",
            "type": "string",
          },
          "h": {
            "type": "integer",
          },
          "note": {
            "type": "string",
          },
          "spaces": {
            "items": {
              "properties": {
                "blocks": {
                  "items": {
                    "type": "string",
                  },
                  "type": "array",
                },
                "coord": {
                  "type": "string",
                },
                "price": {
                  "type": "string",
                },
              },
              "required": [
                "coord",
                "blocks",
                "price",
              ],
              "type": "object",
            },
            "type": "array",
          },
          "w": {
            "type": "integer",
          },
        },
        "type": "object",
      },
      "title": "Find room for a picture of several blocks",
    }
  `)
})

test('room is found where nothing is sold', async () => {
  const wall = await openWall()
  await buy(wall, { coord: '0,0' }, paymentOf(1, 1))
  expect(await read(wall, 'find_space', { w: 2, h: 2, near: '0,0', limit: 1 })).toMatchInlineSnapshot(`
    {
      "asset": "USDC",
      "h": 2,
      "note": "Nothing is held: another buyer may be quicker. Buy block by block in the order given.",
      "spaces": [
        {
          "blocks": [
            "2,1",
            "2,0",
            "1,1",
            "1,0",
          ],
          "coord": "1,0",
          "price": "4.00",
        },
      ],
      "w": 2,
    }
  `)
})

test('the larger the rectangles, the fewer are listed', async () => {
  const wall = await untouched
  const countOf = async (w: number, h: number) =>
    ((await read(wall, 'find_space', { w, h, limit: 20 }))['spaces'] as unknown[]).length
  expect([await countOf(1, 1), await countOf(10, 10), await countOf(160, 90)]).toEqual([20, 6, 1])
})

test.each([
  [{ w: 0 }, 'invalid_size'],
  [{ h: 91 }, 'invalid_size'],
  [{ near: '160,0' }, 'invalid_coordinate'],
  [{ limit: 21 }, 'invalid_limit'],
])('%j is refused with %s', async (args, error) => {
  expect(await read(await untouched, 'find_space', args)).toMatchObject({ error })
})
