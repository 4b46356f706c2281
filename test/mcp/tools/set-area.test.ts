import { expect, test } from 'bun:test'
import { areaEditOf } from '../../http/blocks/signed.ts'
import { HOST, openWall } from '../../http/wall.ts'
import { NOW, paymentOf } from '../../ports/samples.ts'
import { buy, definitionOf, read } from '../agent.ts'

const AREA = '3,4,2x1'

const PIXELS = Uint8Array.from({ length: 200 }, (_, at) => at)

async function soldWall() {
  const wall = await openWall()
  for (const [at, coord] of ['3,4', '4,4'].entries()) await buy(wall, { coord }, paymentOf(1, at + 1))
  return wall
}

test('the definition', () => {
  expect(definitionOf('set_area')).toMatchInlineSnapshot(`
    {
      "annotations": {
        "destructiveHint": true,
        "idempotentHint": true,
        "openWorldHint": true,
        "readOnlyHint": false,
      },
      "description": "Use to repaint a rectangle of up to 400 blocks that one wallet owns, all or none, with one signature of that wallet or of the painter of every block. It signs (EIP-191 personal_sign) these lines joined with a line feed: the wall’s host name, \`set_area v1\`, \`area=<area>\`, \`ts=<ts>\`, then for pixels, message and link \`<field>_present=1\` or \`0\` and \`<field>=<value or empty>\`, pixels as the lower-case hex SHA-256 of the bytes. Not for one block (set_pixels). Free. Side effect: replaces what the blocks show to everyone; the same signed call again changes nothing. Errors: unauthorized (expected holds the text that should have been signed), stale_signature, empty_update, invalid_body, invalid_area, invalid_pixels, invalid_message, invalid_link, no_owner, purchase_pending, server_busy, too_many_requests, database_unavailable. Returns {updated, area, blocks}, blocks as a count.",
      "inputSchema": {
        "additionalProperties": false,
        "properties": {
          "area": {
            "description": "Top left block and size in blocks: \`col,row,WxH\`, in decimal without leading zeros, of 1 to 400 blocks that all lie on the wall.",
            "examples": [
              "80,45,4x3",
            ],
            "pattern": "^(0|[1-9]\\d{0,2}),(0|[1-9]\\d{0,2}),([1-9]\\d{0,2})x([1-9]\\d{0,2})$",
            "type": "string",
          },
          "link": {
            "anyOf": [
              {
                "description": "Where the block leads: an ASCII https URI of at most 200 characters, with a host and without user information. Never fetched.",
                "examples": [
                  "https://example.org/",
                ],
                "format": "uri",
                "maxLength": 200,
                "pattern": "^https://",
                "type": "string",
              },
              {
                "type": "null",
              },
            ],
            "description": "New https link of every block. Leave out to keep; null clears.",
          },
          "message": {
            "anyOf": [
              {
                "description": "Text shown with the block.",
                "examples": [
                  "hello, world",
                ],
                "maxLength": 140,
                "minLength": 1,
                "type": "string",
              },
              {
                "type": "null",
              },
            ],
            "description": "New text of every block. Leave out to keep; null clears.",
          },
          "pixels": {
            "contentEncoding": "base64",
            "description": "New picture in base64: a palette index for each pixel, row by row over the area. Leave out to keep. Example: AAAA for black pixels.",
            "type": "string",
          },
          "signature": {
            "description": "EIP-191 personal_sign over the text, 0x and hex.",
            "pattern": "^0x[0-9a-fA-F]+$",
            "type": "string",
          },
          "ts": {
            "description": "Unix time in milliseconds, as signed; within 5 minutes of the server’s.",
            "examples": [
              1760000000000,
            ],
            "type": "integer",
          },
        },
        "required": [
          "area",
          "ts",
          "signature",
        ],
        "type": "object",
      },
      "name": "set_area",
      "outputSchema": {
        "anyOf": [
          {
            "required": [
              "updated",
              "area",
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
          "area": {
            "type": "string",
          },
          "blocks": {
            "type": "integer",
          },
          "updated": {
            "const": true,
            "type": "boolean",
          },
        },
        "type": "object",
      },
      "title": "Repaint an area you own with one signature",
    }
  `)
})

test('an owner repaints an area with one signature', async () => {
  const wall = await soldWall()
  const edit = areaEditOf(1, AREA, { pixels: PIXELS, message: 'ours' })
  for (let times = 0; times < 2; times += 1)
    expect(await read(wall, 'set_area', { area: AREA, ...edit })).toEqual({ updated: true, area: AREA, blocks: 2 })
  for (const coord of ['3,4', '4,4'])
    expect(await read(wall, 'get_block', { coord })).toMatchObject({ deed: { message: 'ours' } })
})

test('what is wrong is told as over HTTP', async () => {
  const wall = await soldWall()
  const refusal = async (change: object) =>
    await read(wall, 'set_area', { area: AREA, ...areaEditOf(2, AREA, { message: 'a' }), ...change })
  expect(await refusal({})).toMatchObject({
    error: 'unauthorized',
    expected: `${HOST}\nset_area v1\narea=${AREA}\nts=${NOW}\npixels_present=0\npixels=\nmessage_present=1\nmessage=a\nlink_present=0\nlink=`,
  })
  expect(await refusal({ area: '3,4' })).toMatchObject({ error: 'invalid_area' })
  expect(await refusal({ area: 3 })).toMatchObject({ error: 'invalid_area' })
  expect(await refusal({ pixels: 'AAAA' })).toMatchObject({ error: 'invalid_pixels' })
  expect(await refusal({ coord: '3,4' })).toMatchObject({ error: 'invalid_body' })
  expect(await refusal({ message: undefined })).toMatchObject({ error: 'empty_update' })
  expect(await refusal({ area: '3,4,3x1' })).toMatchObject({ error: 'no_owner' })
})
