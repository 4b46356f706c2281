import { expect, test } from 'bun:test'
import { PALETTE } from '../../../shared/palette.ts'
import { openWall } from '../../http/wall.ts'
import { paymentOf } from '../../ports/samples.ts'
import { buy, definitionOf, read } from '../agent.ts'

test('the definition', () => {
  expect(definitionOf('get_wall')).toMatchInlineSnapshot(`
    {
      "annotations": {
        "destructiveHint": false,
        "idempotentHint": true,
        "openWorldHint": false,
        "readOnlyHint": true,
      },
      "description": "Use first, to learn the size of the wall, the price of a block, the 240 colours that pixels index and how many blocks are sold. Not for single blocks (get_block), a picture (get_wall_image) or open places (list_unclaimed, find_space). Free, no side effects, no arguments. Returns {canvas, pricing, palette, stats, canvasUrl}; canvasUrl serves every claimed block at once and is large.",
      "inputSchema": {
        "additionalProperties": false,
        "properties": {},
        "type": "object",
      },
      "name": "get_wall",
      "outputSchema": {
        "anyOf": [
          {
            "required": [
              "canvas",
              "pricing",
              "palette",
              "stats",
              "canvasUrl",
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
          "canvas": {
            "properties": {
              "blockSize": {
                "const": 10,
                "type": "number",
              },
              "cols": {
                "const": 160,
                "type": "number",
              },
              "height": {
                "const": 900,
                "type": "number",
              },
              "rows": {
                "const": 90,
                "type": "number",
              },
              "totalBlocks": {
                "const": 14400,
                "type": "number",
              },
              "width": {
                "const": 1600,
                "type": "number",
              },
            },
            "required": [
              "width",
              "height",
              "blockSize",
              "cols",
              "rows",
              "totalBlocks",
            ],
            "type": "object",
          },
          "canvasUrl": {
            "type": "string",
          },
          "palette": {
            "items": {
              "type": "string",
            },
            "maxItems": 240,
            "minItems": 240,
            "type": "array",
          },
          "pricing": {
            "properties": {
              "asset": {
                "const": "USDC",
                "type": "string",
              },
              "network": {
                "type": "string",
              },
              "perBlock": {
                "type": "string",
              },
              "perPixel": {
                "type": "string",
              },
            },
            "required": [
              "perPixel",
              "perBlock",
              "asset",
              "network",
            ],
            "type": "object",
          },
          "stats": {
            "properties": {
              "agents": {
                "type": "integer",
              },
              "claimed": {
                "type": "integer",
              },
              "lastClaimedAt": {
                "anyOf": [
                  {
                    "type": "integer",
                  },
                  {
                    "type": "null",
                  },
                ],
              },
              "lastSaleId": {
                "type": "integer",
              },
              "remaining": {
                "type": "integer",
              },
            },
            "required": [
              "claimed",
              "remaining",
              "agents",
              "lastClaimedAt",
              "lastSaleId",
            ],
            "type": "object",
          },
        },
        "type": "object",
      },
      "title": "Read the wall’s size, price, palette and counts",
    }
  `)
})

test('the wall is told in numbers and colours', async () => {
  const wall = await openWall()
  await buy(wall, { coord: '3,4' }, paymentOf(1, 1))
  const { palette, ...rest } = await read(wall, 'get_wall')
  expect(palette).toEqual(PALETTE)
  expect(rest).toMatchInlineSnapshot(`
    {
      "canvas": {
        "blockSize": 10,
        "cols": 160,
        "height": 900,
        "rows": 90,
        "totalBlocks": 14400,
        "width": 1600,
      },
      "canvasUrl": "https://wall.test/api/canvas",
      "pricing": {
        "asset": "USDC",
        "network": "eip155:8453",
        "perBlock": "1.00",
        "perPixel": "0.01",
      },
      "stats": {
        "agents": 1,
        "claimed": 1,
        "lastClaimedAt": 1800000000000,
        "lastSaleId": 1,
        "remaining": 14399,
      },
    }
  `)
})
