import { expect, test } from 'bun:test'
import { openWall } from '../../http/wall.ts'
import { paymentOf, wallet } from '../../ports/samples.ts'
import { buy, definitionOf, read } from '../agent.ts'

// For what changes nothing.
const untouched = openWall()

test('the definition', () => {
  expect(definitionOf('my_wall')).toMatchInlineSnapshot(`
    {
      "annotations": {
        "destructiveHint": false,
        "idempotentHint": true,
        "openWorldHint": false,
        "readOnlyHint": true,
      },
      "description": "Use when you have lost your state, or were cut off while paying: tells which blocks a wallet owns and which of them were bought as areas, who may repaint it, which purchases are unfinished and what to do about each, and what the operator owes it. Not for a list of all agents (get_founding_machines). Free, no side effects. Errors: invalid_wallet, invalid_after, no_purchases, too_many_requests, database_unavailable. Returns {wallet, name, framework, rank, firstSeenAt, painter, blocks, areas, nextAfter, hasMore, open, credits, contact, untrusted}, the address truncated; where open says resend, make the same call again, signed as before or from the same wallet: it is not charged twice.",
      "inputSchema": {
        "additionalProperties": false,
        "properties": {
          "after": {
            "description": "For more blocks while hasMore: nextAfter.",
            "examples": [
              9,
            ],
            "maximum": 9007199254740991,
            "minimum": 0,
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
        ],
        "type": "object",
      },
      "name": "my_wall",
      "outputSchema": {
        "anyOf": [
          {
            "required": [
              "wallet",
              "name",
              "framework",
              "rank",
              "firstSeenAt",
              "painter",
              "blocks",
              "areas",
              "nextAfter",
              "hasMore",
              "open",
              "credits",
              "contact",
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
          "areas": {
            "items": {
              "properties": {
                "area": {
                  "type": "string",
                },
                "claimedAt": {
                  "type": "integer",
                },
                "tx": {
                  "type": "string",
                },
              },
              "required": [
                "area",
                "claimedAt",
                "tx",
              ],
              "type": "object",
            },
            "type": "array",
          },
          "blocks": {
            "items": {
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
                "painter": {
                  "type": "string",
                },
                "settled": {
                  "type": "boolean",
                },
                "tx": {
                  "type": "string",
                },
              },
              "required": [
                "block",
                "claimedAt",
                "settled",
                "tx",
              ],
              "type": "object",
            },
            "type": "array",
          },
          "contact": {
            "anyOf": [
              {
                "type": "string",
              },
              {
                "type": "null",
              },
            ],
          },
          "credits": {
            "items": {
              "properties": {
                "amount": {
                  "type": "string",
                },
                "tx": {
                  "type": "string",
                },
              },
              "required": [
                "amount",
                "tx",
              ],
              "type": "object",
            },
            "type": "array",
          },
          "firstSeenAt": {
            "anyOf": [
              {
                "type": "integer",
              },
              {
                "type": "null",
              },
            ],
          },
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
          "hasMore": {
            "type": "boolean",
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
          "nextAfter": {
            "type": "integer",
          },
          "open": {
            "items": {
              "properties": {
                "ageMs": {
                  "type": "integer",
                },
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
                "doubted": {
                  "type": "boolean",
                },
                "next": {
                  "type": "string",
                },
                "resend": {
                  "type": "boolean",
                },
                "since": {
                  "type": "integer",
                },
                "state": {
                  "anyOf": [
                    {
                      "const": "reserved",
                      "type": "string",
                    },
                    {
                      "const": "released",
                      "type": "string",
                    },
                  ],
                },
                "target": {
                  "type": "string",
                },
              },
              "required": [
                "target",
                "block",
                "state",
                "doubted",
                "since",
                "ageMs",
                "resend",
                "next",
              ],
              "type": "object",
            },
            "type": "array",
          },
          "painter": {
            "anyOf": [
              {
                "type": "string",
              },
              {
                "type": "null",
              },
            ],
          },
          "rank": {
            "anyOf": [
              {
                "type": "integer",
              },
              {
                "type": "null",
              },
            ],
          },
          "untrusted": {
            "items": {
              "type": "string",
            },
            "type": "array",
          },
          "wallet": {
            "type": "string",
          },
        },
        "type": "object",
      },
      "title": "Find your blocks and unfinished purchases",
    }
  `)
})

test('a wallet is told what it owns and what is unfinished, without its address in full', async () => {
  const wall = await openWall()
  await buy(wall, { coord: '3,4', name: 'Ada' }, paymentOf(0xab, 1))
  wall.facilitator.settling = { kind: 'unclear' }
  await buy(wall, { coord: '5,5' }, paymentOf(0xab, 2))
  const standing = await read(wall, 'my_wall', { wallet: wallet(0xab).toUpperCase().replace('0X', '0x') })
  expect(standing).toMatchInlineSnapshot(`
    {
      "areas": [],
      "blocks": [
        {
          "block": {
            "coord": "3,4",
            "index": 643,
          },
          "claimedAt": 1800000000000,
          "settled": true,
          "tx": "0x0000000000000000000000000000000000000000000000000000000000000001",
        },
      ],
      "contact": "ops@wall.test",
      "credits": [],
      "firstSeenAt": 1800000000000,
      "framework": null,
      "hasMore": false,
      "name": "Ada",
      "nextAfter": 1,
      "open": [
        {
          "ageMs": 3000,
          "block": {
            "coord": "5,5",
            "index": 805,
          },
          "doubted": true,
          "next": "The payment may have gone through. Do not pay again, but send the same signed request again. If your client cannot, make the same request again from the same wallet, which is not charged twice. GET /api/agents/{wallet} shows what became of it.",
          "resend": true,
          "since": 1800000000000,
          "state": "reserved",
          "target": "5,5",
        },
      ],
      "painter": null,
      "rank": 1,
      "untrusted": [
        "name",
        "framework",
      ],
      "wallet": "0x0000…00AB",
    }
  `)
  expect(JSON.stringify(standing).toLowerCase()).not.toContain(wallet(0xab))
})

test('a wallet that bought nothing, or is none, has nothing to be told', async () => {
  const wall = await untouched
  expect(await read(wall, 'my_wall', { wallet: wallet(1) })).toMatchObject({ error: 'no_purchases' })
  expect(await read(wall, 'my_wall', { wallet: '0x12' })).toMatchObject({ error: 'invalid_wallet' })
  expect(await read(wall, 'my_wall', { wallet: wallet(1), after: -1 })).toMatchObject({ error: 'invalid_after' })
})

test('what a wallet owns is told from a number on', async () => {
  const wall = await openWall()
  for (const [at, coord] of ['1,1', '2,2', '3,3'].entries()) await buy(wall, { coord }, paymentOf(1, at + 1))
  const coords = async (page: object) => {
    const { blocks, nextAfter, hasMore } = await read(wall, 'my_wall', { wallet: wallet(1), ...page })
    return [blocks, nextAfter, hasMore]
  }
  const block = (coord: string) => expect.objectContaining({ block: expect.objectContaining({ coord }) })
  expect(await coords({})).toEqual([[block('1,1'), block('2,2'), block('3,3')], 3, false])
  expect(await coords({ after: 2 })).toEqual([[block('3,3')], 3, false])
})
