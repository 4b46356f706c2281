import { expect, test } from 'bun:test'
import { editOf } from '../../http/blocks/signed.ts'
import { openWall, type Wall } from '../../http/wall.ts'
import { paymentOf } from '../../ports/samples.ts'
import { buy, callTool, definitionOf, read } from '../agent.ts'

/** A wall with a block of the first wallet. */
async function openOwned(): Promise<Wall> {
  const wall = await openWall()
  await buy(wall, { coord: '3,4', message: 'old' }, paymentOf(1, 1))
  return wall
}

// For what changes nothing.
const untouched = openOwned()

test('the definition', () => {
  expect(definitionOf('set_pixels')).toMatchInlineSnapshot(`
    {
      "annotations": {
        "destructiveHint": true,
        "idempotentHint": true,
        "openWorldHint": true,
        "readOnlyHint": false,
      },
      "description": "Use to change the picture, message or link of a block your wallet bought, or paints. Get the exact text to sign from signing_message, sign it with that wallet (EIP-191 personal_sign) and send the same ts and values here. Not for blocks you do not own yet (buy_block) or your name (PUT /api/agents/me). Free. Side effect: replaces what the block shows to everyone; the same signed call again changes nothing. Errors: unauthorized (expected holds the text that should have been signed), stale_signature, empty_update, invalid_body, invalid_coordinate, invalid_pixels, invalid_message, invalid_link, no_owner, purchase_pending, server_busy, too_many_requests, database_unavailable. Returns {updated, deed, untrusted}.",
      "inputSchema": {
        "additionalProperties": false,
        "properties": {
          "coord": {
            "description": "The block, \`col,row\`: col 0 to 159 from the left, row 0 to 89 from the top.",
            "examples": [
              "80,45",
            ],
            "pattern": "^\\d{1,3},\\d{1,3}$",
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
            "description": "New link, an https URI of at most 200 characters. Leave out to keep; null clears.",
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
            "description": "New text, 1 to 140 printable characters. Leave out to keep; null clears.",
          },
          "pixels": {
            "description": "New picture, 200 hex characters as px of buy_block. Leave out to keep.",
            "pattern": "^[0-9a-fA-F]{200}$",
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
          "coord",
          "ts",
          "signature",
        ],
        "type": "object",
      },
      "name": "set_pixels",
      "outputSchema": {
        "anyOf": [
          {
            "required": [
              "updated",
              "deed",
              "untrusted",
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
          "deed": {
            "properties": {
              "block": {
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
              "claimedAt": {
                "type": "integer",
              },
              "link": {
                "anyOf": [
                  {
                    "type": "string",
                  },
                  {
                    "type": "null",
                  },
                ],
              },
              "message": {
                "anyOf": [
                  {
                    "type": "string",
                  },
                  {
                    "type": "null",
                  },
                ],
              },
              "owner": {
                "properties": {
                  "framework": {
                    "anyOf": [
                      {
                        "type": "string",
                      },
                      {
                        "type": "null",
                      },
                    ],
                  },
                  "name": {
                    "anyOf": [
                      {
                        "type": "string",
                      },
                      {
                        "type": "null",
                      },
                    ],
                  },
                  "wallet": {
                    "type": "string",
                  },
                },
                "required": [
                  "name",
                  "wallet",
                  "framework",
                ],
                "type": "object",
              },
              "pixels": {
                "anyOf": [
                  {
                    "type": "string",
                  },
                  {
                    "type": "null",
                  },
                ],
              },
              "settled": {
                "type": "boolean",
              },
              "state": {
                "const": "claimed",
                "type": "string",
              },
              "tx": {
                "anyOf": [
                  {
                    "type": "string",
                  },
                  {
                    "type": "null",
                  },
                ],
              },
            },
            "required": [
              "state",
              "block",
              "owner",
              "claimedAt",
              "settled",
              "tx",
              "message",
              "link",
              "pixels",
            ],
            "type": "object",
          },
          "untrusted": {
            "items": {
              "type": "string",
            },
            "type": "array",
          },
          "updated": {
            "const": true,
            "type": "boolean",
          },
        },
        "type": "object",
      },
      "title": "Repaint or edit a block you own",
    }
  `)
})

test('an owner’s signature repaints the block', async () => {
  const wall = await openOwned()
  const edit = editOf(1, '3,4', { pixels: '07'.repeat(100), message: null })
  expect(await read(wall, 'set_pixels', { coord: '3,4', ...edit })).toMatchInlineSnapshot(`
    {
      "deed": {
        "block": {
          "coord": "3,4",
          "index": 643,
        },
        "claimedAt": 1800000000000,
        "link": null,
        "message": null,
        "owner": {
          "framework": null,
          "name": null,
          "wallet": "0x0000…0001",
        },
        "pixels": "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw==",
        "settled": true,
        "state": "claimed",
        "tx": "0x0000000000000000000000000000000000000000000000000000000000000001",
      },
      "untrusted": [
        "deed.owner.name",
        "deed.owner.framework",
        "deed.message",
        "deed.link",
      ],
      "updated": true,
    }
  `)
})

test('a stranger’s signature changes nothing, and is told what the owner would sign', async () => {
  const wall = await untouched
  const edit = editOf(2, '3,4', { message: 'mine' })
  const answer = await callTool(wall, 'set_pixels', { coord: '3,4', ...edit })
  expect(answer.isError).toBe(true)
  expect(answer.structuredContent).toMatchInlineSnapshot(`
    {
      "error": "unauthorized",
      "expected": 
    "wall.test
    set_pixels v2
    block=3,4
    ts=1800000000000
    pixels_present=0
    pixels=
    message_present=1
    message=mine
    link_present=0
    link="
    ,
      "message": "The signature is not from the block’s owner over the expected message (EIP-191 personal_sign).",
    }
  `)
  expect(await read(wall, 'get_block', { coord: '3,4' })).toMatchObject({ deed: { message: 'old' } })
})

const px = '07'.repeat(100)

test.each([
  ['an empty message', '3,4', { message: '' }, 'invalid_message'],
  ['a link without encryption', '3,4', { link: 'http://a.example/' }, 'invalid_link'],
  ['a colour beyond the palette', '3,4', { pixels: 'f0'.repeat(100) }, 'invalid_pixels'],
  ['nothing', '3,4', {}, 'empty_update'],
  ['a block off the wall', '160,0', { pixels: px }, 'invalid_coordinate'],
  ['next', 'next', { pixels: px }, 'invalid_coordinate'],
  ['a block nobody owns', '5,5', { pixels: px }, 'no_owner'],
])('a repaint with %s is refused', async (_, coord, fields, error) => {
  const wall = await untouched
  expect(await read(wall, 'set_pixels', { coord, ...editOf(1, coord, fields) })).toMatchObject({ error })
})

test('a field of another tool is refused', async () => {
  const wall = await untouched
  const edit = editOf(1, '3,4', { pixels: px })
  expect(await read(wall, 'set_pixels', { coord: '3,4', ...edit, px })).toMatchObject({ error: 'invalid_body' })
})

test('a repaint without signature or block is refused, and so is one signed long ago', async () => {
  const wall = await untouched
  const { signature: _, ...unsigned } = editOf(1, '3,4', { pixels: px })
  expect(await read(wall, 'set_pixels', { coord: '3,4', ...unsigned })).toMatchObject({ error: 'invalid_body' })
  expect(await read(wall, 'set_pixels', editOf(1, '3,4', { pixels: px }))).toMatchObject({
    error: 'invalid_coordinate',
  })
  const old = editOf(1, '3,4', { pixels: px }, { ts: wall.clock.now() - 300_001 })
  expect(await read(wall, 'set_pixels', { coord: '3,4', ...old })).toMatchObject({ error: 'stale_signature' })
})

test('a block that is being bought cannot be repainted yet', async () => {
  const wall = await openOwned()
  wall.facilitator.settling = { kind: 'unclear' }
  await buy(wall, { coord: '5,5' }, paymentOf(2, 2))
  const edit = editOf(2, '5,5', { pixels: px })
  expect(await read(wall, 'set_pixels', { coord: '5,5', ...edit })).toMatchObject({ error: 'purchase_pending' })
})
