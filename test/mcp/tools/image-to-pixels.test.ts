import { expect, test } from 'bun:test'
import { openWall } from '../../http/wall.ts'
import { callTool, definitionOf, pictureSize, read } from '../agent.ts'

const RED = Buffer.alloc(300, Buffer.from([255, 0, 0])).toString('base64')

// For what changes nothing.
const untouched = openWall()

test('the definition', () => {
  expect(definitionOf('image_to_pixels')).toMatchInlineSnapshot(`
    {
      "annotations": {
        "destructiveHint": false,
        "idempotentHint": true,
        "openWorldHint": false,
        "readOnlyHint": true,
      },
      "description": "Use to make the px of buy_block, or pixels of set_pixels, from a PNG, JPEG or raw RGB picture of at most 44 KiB. Not for larger ones, or more than 64 blocks: POST the file to /api/pixels, which takes 4 MiB. Free, no side effects: nothing is kept. Errors: invalid_image, invalid_size, invalid_option, server_busy, too_many_requests. Returns {w, h, blocks} and a PNG of the result; blocks are row by row, each with dx and dy (columns and rows from the first) and px.",
      "inputSchema": {
        "additionalProperties": false,
        "properties": {
          "background": {
            "default": "#000000",
            "description": "Colour behind transparent pixels and beside what contain shows, #rrggbb. Default #000000.",
            "pattern": "^#?[0-9a-fA-F]{6}$",
            "type": "string",
          },
          "dither": {
            "anyOf": [
              {
                "const": "none",
                "type": "string",
              },
              {
                "const": "floyd-steinberg",
                "type": "string",
              },
            ],
            "default": "none",
            "description": "none: each pixel its nearest colour, best for logos and text. floyd-steinberg: best for photographs. Default none.",
          },
          "fit": {
            "anyOf": [
              {
                "const": "cover",
                "type": "string",
              },
              {
                "const": "contain",
                "type": "string",
              },
              {
                "const": "fill",
                "type": "string",
              },
            ],
            "default": "cover",
            "description": "cover: fills the blocks and cuts the rest off. contain: shows all, with bars. fill: stretches. Default cover.",
          },
          "h": {
            "default": 1,
            "description": "Height of the result in blocks of 10 pixels. Default 1.",
            "maximum": 90,
            "minimum": 1,
            "type": "integer",
          },
          "height": {
            "description": "Height in pixels, 1 to 8192, of a raw picture. Leave out for PNG and JPEG.",
            "examples": [
              10,
            ],
            "maximum": 8192,
            "minimum": 1,
            "type": "integer",
          },
          "image": {
            "description": "The picture in base64 (a data: URL will do): PNG, JPEG, or raw bytes, 3 (RGB) or 4 (RGBA) a pixel.",
            "examples": [
              "iVBORw0KGgo…",
            ],
            "minLength": 1,
            "type": "string",
          },
          "w": {
            "default": 1,
            "description": "Width of the result in blocks of 10 pixels; w x h at most 64. Default 1.",
            "maximum": 160,
            "minimum": 1,
            "type": "integer",
          },
          "width": {
            "description": "Width in pixels, 1 to 8192, of a raw picture. Leave out for PNG and JPEG.",
            "examples": [
              10,
            ],
            "maximum": 8192,
            "minimum": 1,
            "type": "integer",
          },
        },
        "required": [
          "image",
        ],
        "type": "object",
      },
      "name": "image_to_pixels",
      "outputSchema": {
        "anyOf": [
          {
            "required": [
              "w",
              "h",
              "blocks",
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
          "blocks": {
            "items": {
              "properties": {
                "dx": {
                  "type": "integer",
                },
                "dy": {
                  "type": "integer",
                },
                "px": {
                  "type": "string",
                },
              },
              "required": [
                "dx",
                "dy",
                "px",
              ],
              "type": "object",
            },
            "type": "array",
          },
          "h": {
            "type": "integer",
          },
          "w": {
            "type": "integer",
          },
        },
        "type": "object",
      },
      "title": "Turn a picture into px",
    }
  `)
})

test('a raw picture becomes what buying and repainting take, with a picture of the result', async () => {
  const answer = await callTool(await untouched, 'image_to_pixels', { image: RED, width: 10, height: 10 })
  expect(answer.structuredContent).toEqual({ w: 1, h: 1, blocks: [{ dx: 0, dy: 0, px: 'b4'.repeat(100) }] })
  expect(pictureSize(answer)).toEqual([10, 10])
})

test('a PNG is read too, as a data URL and over several blocks', async () => {
  const wall = await untouched
  const { content } = await callTool(wall, 'image_to_pixels', { image: RED, width: 10, height: 10 })
  const image = `data:image/png;base64,${content[1]?.data}`
  const { blocks } = await read(wall, 'image_to_pixels', { image, w: 2, h: 1, dither: 'floyd-steinberg', fit: 'fill' })
  expect(blocks).toEqual([0, 1].map((dx) => ({ dx, dy: 0, px: 'b4'.repeat(100) })))
})

test.each([
  ['no picture', {}, 'invalid_image'],
  ['no base64', { image: '%%' }, 'invalid_image'],
  ['bare pixels of no size', { image: RED }, 'invalid_image'],
  ['bare pixels of another size', { image: RED, width: 11, height: 10 }, 'invalid_image'],
  ['over 44 KiB', { image: Buffer.alloc(45_057).toString('base64') }, 'invalid_image'],
  ['more than 64 blocks', { image: RED, w: 9, h: 8 }, 'invalid_size'],
  ['no width', { image: RED, w: 0 }, 'invalid_size'],
  ['an unknown dither', { image: RED, dither: 'yes' }, 'invalid_option'],
  ['an unknown fit', { image: RED, fit: 'yes' }, 'invalid_option'],
  ['a background that is no colour', { image: RED, background: 'red' }, 'invalid_option'],
])('%s is refused', async (_, args, error) => {
  expect(await read(await untouched, 'image_to_pixels', args)).toMatchObject({ error })
})
