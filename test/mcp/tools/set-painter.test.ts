import { expect, test } from 'bun:test'
import { getAddress } from 'viem/utils'
import { editOf, namingOf } from '../../http/blocks/signed.ts'
import { HOST, openWall } from '../../http/wall.ts'
import { NOW, paymentOf, wallet } from '../../ports/samples.ts'
import { buy, definitionOf, read } from '../agent.ts'

const PAINTER = wallet(9)

async function soldWall(painter?: string) {
  const wall = await openWall()
  await buy(wall, { coord: '3,4', ...(painter === undefined ? {} : { painter }) }, paymentOf(1, 1))
  return wall
}

test('the definition', () => {
  expect(definitionOf('set_painter')).toMatchInlineSnapshot(`
    {
      "annotations": {
        "destructiveHint": true,
        "idempotentHint": false,
        "openWorldHint": false,
        "readOnlyHint": false,
      },
      "description": "Use to let another key sign repaints of all your blocks (set_pixels, set_area), and nothing else, so that the wallet that pays can stay locked away. Get the exact text from signing_message (kind set_painter), sign it with that wallet (EIP-191 personal_sign) and send the same ts and values here. Not to name one for the blocks of one purchase (painter of buy_block). Free. Side effect: ends every naming before, those of purchases included. Errors: unauthorized (expected holds the text that should have been signed), stale_signature, invalid_body, invalid_wallet, invalid_painter, no_purchases, server_busy, too_many_requests, database_unavailable. Returns {updated}; my_wall shows who is named.",
      "inputSchema": {
        "additionalProperties": false,
        "properties": {
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
            "description": "The address that may repaint; null for nobody.",
          },
          "signature": {
            "description": "EIP-191 personal_sign over the text by the wallet, 0x and hex.",
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
          "wallet": {
            "description": "The full address, 0x and 40 hex digits in any letter case.",
            "examples": [
              "0x000000000000000000000000000000000000dEaD",
            ],
            "pattern": "^0x[0-9a-fA-F]{40}$",
            "type": "string",
          },
        },
        "required": [
          "wallet",
          "ts",
          "signature",
          "painter",
        ],
        "type": "object",
      },
      "name": "set_painter",
      "outputSchema": {
        "anyOf": [
          {
            "required": [
              "updated",
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
          "updated": {
            "const": true,
            "type": "boolean",
          },
        },
        "type": "object",
      },
      "title": "Name the key that may repaint for your wallet",
    }
  `)
})

test('a wallet names its painter, who repaints from then on, and is shown to it', async () => {
  const wall = await soldWall()
  const repaint = () => read(wall, 'set_pixels', { coord: '3,4', ...editOf(9, '3,4', { message: 'painted' }) })
  expect(await repaint()).toMatchObject({ error: 'unauthorized' })
  expect(await read(wall, 'set_painter', namingOf(1, PAINTER))).toEqual({ updated: true })
  expect(await repaint()).toMatchObject({ updated: true, deed: { message: 'painted' } })
  const shown = getAddress(PAINTER)
  expect(await read(wall, 'my_wall', { wallet: wallet(1) })).toMatchObject({
    painter: shown,
    blocks: [{ painter: shown }],
  })
})

test('whom a purchase names repaints its block', async () => {
  const wall = await soldWall(PAINTER)
  expect(await read(wall, 'set_pixels', { coord: '3,4', ...editOf(9, '3,4', { message: 'painted' }) })).toMatchObject({
    updated: true,
  })
})

test('the text to sign comes from signing_message', async () => {
  const wall = await soldWall()
  for (const [at, painter] of [PAINTER, null].entries()) {
    const args = { kind: 'set_painter', wallet: wallet(1), painter, ts: NOW + at }
    const help = await read(wall, 'signing_message', args)
    expect(help).toMatchObject({
      message: `${HOST}\nset_painter v1\nwallet=${wallet(1)}\nts=${NOW + at}\npainter=${painter ?? ''}`,
    })
    const { body } = help['request'] as { body: object }
    const { signature } = namingOf(1, painter, NOW + at)
    expect(await read(wall, 'set_painter', { ...body, signature })).toEqual({ updated: true })
  }
})

test('what is wrong is told as over HTTP', async () => {
  const wall = await soldWall()
  const refusal = async (change: object) =>
    (await read(wall, 'set_painter', { ...namingOf(1, PAINTER), ...change }))['error']
  expect(await refusal({ painter: 'me' })).toBe('invalid_painter')
  expect(await refusal({ wallet: '0x12' })).toBe('invalid_wallet')
  expect(await refusal({ coord: '3,4' })).toBe('invalid_body')
  expect(await refusal({ ts: 1 })).toBe('stale_signature')
  expect(await refusal({ signature: '0x12' })).toBe('unauthorized')
  expect(await refusal({ wallet: wallet(2) })).toBe('no_purchases')
  expect(await refusal({})).toBeUndefined()
  expect(await refusal({})).toBe('stale_signature')
})
