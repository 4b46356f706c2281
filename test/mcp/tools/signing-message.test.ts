import { beforeAll, expect, test } from 'bun:test'
import { signatureOf } from '../../fakes/wallets.ts'
import { openWall, type Wall } from '../../http/wall.ts'
import { paymentOf, wallet } from '../../ports/samples.ts'
import { buy, definitionOf, read } from '../agent.ts'

let wall: Wall
beforeAll(async () => {
  wall = await openWall()
  await buy(wall, { coord: '3,4', message: 'old' }, paymentOf(1, 1))
})

test('the definition', () => {
  expect(definitionOf('signing_message')).toMatchInlineSnapshot(`
    {
      "annotations": {
        "destructiveHint": false,
        "idempotentHint": true,
        "openWorldHint": false,
        "readOnlyHint": true,
      },
      "description": "Use before set_pixels, set_area and set_painter, or before naming your wallet with PUT /api/agents/me: gives the exact text that your wallet signs by EIP-191 personal_sign, and a test vector to check your signer by. Not to make the change: send the body it returns, with your signature. Free, no side effects, no keys. Errors: invalid_body, invalid_coordinate, invalid_area, invalid_pixels, invalid_message, invalid_link, invalid_wallet, invalid_name, invalid_framework, invalid_painter, invalid_option, empty_update, stale_signature, no_owner, purchase_pending, unauthorized (an area of several wallets), no_purchases, too_many_requests, database_unavailable. Returns {message, digest, ts, validUntil, request, testVector}; for set_pixels, set_area and set_painter pass the members of request.body on as they are.",
      "inputSchema": {
        "additionalProperties": false,
        "properties": {
          "area": {
            "description": "set_area: the area, \`col,row,WxH\`.",
            "examples": [
              "80,45,4x3",
            ],
            "pattern": "^(0|[1-9]\\d{0,2}),(0|[1-9]\\d{0,2}),([1-9]\\d{0,2})x([1-9]\\d{0,2})$",
            "type": "string",
          },
          "coord": {
            "description": "set_pixels: The block, \`col,row\`: col 0 to 159 from the left, row 0 to 89 from the top.",
            "examples": [
              "80,45",
            ],
            "pattern": "^\\d{1,3},\\d{1,3}$",
            "type": "string",
          },
          "framework": {
            "anyOf": [
              {
                "description": "What the agent runs on.",
                "examples": [
                  "eliza",
                ],
                "maxLength": 32,
                "minLength": 1,
                "type": "string",
              },
              {
                "type": "null",
              },
            ],
            "description": "register: new framework, 1 to 32 characters; null clears.",
          },
          "kind": {
            "anyOf": [
              {
                "const": "set_pixels",
                "type": "string",
              },
              {
                "const": "set_area",
                "type": "string",
              },
              {
                "const": "register",
                "type": "string",
              },
              {
                "const": "set_painter",
                "type": "string",
              },
            ],
            "description": "set_pixels: repaint a block you own. set_area: repaint an area you own. register: name your wallet. set_painter: name who may repaint for it.",
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
            "description": "set_pixels, set_area: new https link, at most 200 characters; null clears.",
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
            "description": "set_pixels, set_area: new text, 1 to 140 characters; null clears.",
          },
          "name": {
            "anyOf": [
              {
                "description": "Display name of the wallet, shared by all its blocks.",
                "examples": [
                  "Ada",
                ],
                "maxLength": 40,
                "minLength": 1,
                "type": "string",
              },
              {
                "type": "null",
              },
            ],
            "description": "register: new name, 1 to 40 characters; null clears.",
          },
          "painter": {
            "anyOf": [
              {
                "description": "Address whose signatures count as the owner’s for repaints, and for nothing else.",
                "examples": [
                  "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf",
                ],
                "pattern": "^0x[0-9a-fA-F]{40}$",
                "type": "string",
              },
              {
                "type": "null",
              },
            ],
            "description": "set_painter: the address that may repaint; null for nobody.",
          },
          "pixels": {
            "description": "set_pixels: new picture, 200 hex characters. set_area: its bytes in base64; or their SHA-256 in hex, and then add them to the call yourself.",
            "examples": [
              "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            ],
            "type": "string",
          },
          "ts": {
            "description": "Unix time in milliseconds; now when left out.",
            "examples": [
              1760000000000,
            ],
            "minimum": 0,
            "type": "integer",
          },
          "wallet": {
            "description": "register, set_painter: your address, 0x and 40 hex digits.",
            "pattern": "^0x[0-9a-fA-F]{40}$",
            "type": "string",
          },
        },
        "required": [
          "kind",
        ],
        "type": "object",
      },
      "name": "signing_message",
      "outputSchema": {
        "anyOf": [
          {
            "required": [
              "message",
              "digest",
              "ts",
              "validUntil",
              "request",
              "testVector",
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
          "digest": {
            "type": "string",
          },
          "message": {
            "type": "string",
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
                "const": "PUT",
                "type": "string",
              },
              "url": {
                "type": "string",
              },
            },
            "required": [
              "method",
              "url",
              "body",
            ],
            "type": "object",
          },
          "testVector": {
            "properties": {
              "address": {
                "type": "string",
              },
              "digest": {
                "type": "string",
              },
              "message": {
                "type": "string",
              },
              "privateKey": {
                "type": "string",
              },
              "signature": {
                "type": "string",
              },
            },
            "required": [
              "privateKey",
              "address",
              "message",
              "digest",
              "signature",
            ],
            "type": "object",
          },
          "ts": {
            "type": "integer",
          },
          "validUntil": {
            "type": "integer",
          },
        },
        "type": "object",
      },
      "title": "Get the exact text to sign",
    }
  `)
})

test('the text for a repaint is told, with a vector to check one’s signer by', async () => {
  const args = { kind: 'set_pixels', coord: '3,4', message: null, link: 'https://ada.example/' }
  expect(await read(wall, 'signing_message', args)).toMatchInlineSnapshot(`
    {
      "digest": "0x0dbcc83d7f47ecf51bdd6b9876c68c20a0c0262f6829a204fc1571ba98baced3",
      "message": 
    "wall.test
    set_pixels v2
    block=3,4
    ts=1800000000000
    pixels_present=0
    pixels=
    message_present=1
    message=
    link_present=1
    link=https://ada.example/"
    ,
      "request": {
        "body": {
          "link": "https://ada.example/",
          "message": null,
          "ts": 1800000000000,
        },
        "method": "PUT",
        "url": "https://wall.test/blocks/3,4",
      },
      "testVector": {
        "address": "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf",
        "digest": "0x9d557ff240c32e5cefbcddade280c94e147a8e23b15f3aed77a422772fb4eb7c",
        "message": 
    "wall.example
    set_pixels v2
    block=80,45
    ts=1800000000000
    pixels_present=0
    pixels=
    message_present=1
    message=hello again
    link_present=1
    link="
    ,
        "privateKey": "0x0000000000000000000000000000000000000000000000000000000000000001",
        "signature": "0xa9cf231da12b59a5558cf3c8039dc97feaed55216a226995842b3ffb60e6d5d32a09f268a56193780916369eb078b264224b305e20c6b911fb8a43edcf0b2aa41c",
      },
      "ts": 1800000000000,
      "validUntil": 1800000300000,
    }
  `)
})

test('what is signed so is what set_pixels takes', async () => {
  const { message, request } = await read(wall, 'signing_message', { kind: 'set_pixels', coord: '3,4', message: 'new' })
  const { body } = request as { body: object }
  const signature = signatureOf(wallet(1), String(message))
  expect(await read(wall, 'set_pixels', { coord: '3,4', ...body, signature })).toMatchObject({
    updated: true,
    deed: { message: 'new' },
  })
})

test('what is signed so is what set_area takes', async () => {
  const args = { kind: 'set_area', area: '3,4,1x1', pixels: new Uint8Array(100).fill(7).toBase64(), link: null }
  const { message, request } = await read(wall, 'signing_message', args)
  expect(message).toStartWith('wall.test\nset_area v1\narea=3,4,1x1\n')
  const { body } = request as { body: object }
  const signature = signatureOf(wallet(1), String(message))
  expect(await read(wall, 'set_area', { area: '3,4,1x1', ...body, signature })).toMatchObject({ updated: true })
})

test('what is signed so is what set_painter takes', async () => {
  const args = { kind: 'set_painter', wallet: wallet(1), painter: null }
  const { message, request } = await read(wall, 'signing_message', args)
  const { body } = request as { body: object }
  const signature = signatureOf(wallet(1), String(message))
  expect(await read(wall, 'set_painter', { ...body, signature })).not.toHaveProperty('error')
})

test('the text to name a wallet is told too', async () => {
  const { message } = await read(wall, 'signing_message', {
    kind: 'register',
    wallet: wallet(1),
    name: 'Ada',
    framework: null,
  })
  expect(message).toContain('register v2')
  expect(message).toContain('name_present=1\nname=Ada\nframework_present=1\nframework=')
})

test.each([
  [{}, 'invalid_body'],
  [{ kind: 'x' }, 'invalid_body'],
  [{ kind: 'set_pixels', coord: '3,4' }, 'empty_update'],
  [{ kind: 'set_pixels', coord: 'next', message: 'x' }, 'invalid_coordinate'],
  [{ kind: 'set_pixels', coord: '5,5', message: 'x' }, 'no_owner'],
  [{ kind: 'set_pixels', coord: '3,4', message: '' }, 'invalid_message'],
  [{ kind: 'set_pixels', coord: '3,4', link: 'x' }, 'invalid_link'],
  [{ kind: 'set_pixels', coord: '3,4', pixels: 'x' }, 'invalid_pixels'],
  [{ kind: 'set_pixels', coord: '3,4', message: 'x', ts: 1 }, 'stale_signature'],
  [{ kind: 'set_area', area: '3,4', message: 'x' }, 'invalid_area'],
  [{ kind: 'set_area', area: '3,4,2x1', message: 'x' }, 'no_owner'],
  [{ kind: 'set_area', area: '3,4,1x1', pixels: 'AAEC' }, 'invalid_pixels'],
  [{ kind: 'register', wallet: 'x', name: 'Ada' }, 'invalid_wallet'],
  [{ kind: 'register', wallet: wallet(1), name: '' }, 'invalid_name'],
  [{ kind: 'register', wallet: wallet(2), name: 'Ada' }, 'no_purchases'],
])('%j is refused with %s, as the change would be', async (args, error) => {
  expect(await read(wall, 'signing_message', args)).toMatchObject({ error })
})
