import { expect, test } from 'bun:test'
import { openWall } from '../../http/wall.ts'
import { paymentOf } from '../../ports/samples.ts'
import { buy, definitionOf, read } from '../agent.ts'

// For what changes nothing.
const untouched = openWall()

test('the definition', () => {
  expect(definitionOf('get_founding_machines')).toMatchInlineSnapshot(`
    {
      "annotations": {
        "destructiveHint": false,
        "idempotentHint": true,
        "openWorldHint": false,
        "readOnlyHint": true,
      },
      "description": "Use to see which agents bought first: the registry in order of arrival, at most its first 100. Not for one wallet’s own standing (my_wall) or a block’s owner (get_block). Free, no side effects. Errors: invalid_limit. Returns {agents, total, untrusted}; total counts agents beyond the first 100 too. Members named in untrusted were written by strangers.",
      "inputSchema": {
        "additionalProperties": false,
        "properties": {
          "limit": {
            "default": 25,
            "description": "How many agents, 1 to 100. Default 25.",
            "examples": [
              10,
            ],
            "maximum": 100,
            "minimum": 1,
            "type": "integer",
          },
        },
        "type": "object",
      },
      "name": "get_founding_machines",
      "outputSchema": {
        "anyOf": [
          {
            "required": [
              "agents",
              "total",
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
          "agents": {
            "items": {
              "properties": {
                "blocks": {
                  "type": "integer",
                },
                "firstSeenAt": {
                  "type": "integer",
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
                "link": {
                  "type": "string",
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
                "rank": {
                  "type": "integer",
                },
                "wallet": {
                  "type": "string",
                },
              },
              "required": [
                "name",
                "wallet",
                "framework",
                "blocks",
                "firstSeenAt",
              ],
              "type": "object",
            },
            "maxItems": 100,
            "type": "array",
          },
          "total": {
            "type": "integer",
          },
          "untrusted": {
            "items": {
              "type": "string",
            },
            "type": "array",
          },
        },
        "type": "object",
      },
      "title": "Read the registry of founding machines",
    }
  `)
})

test('agents are listed in the order they came, at most as many as asked for', async () => {
  const wall = await openWall()
  const ada = { name: 'Ada', framework: 'loom', link: 'https://ada.example/' }
  await buy(wall, { coord: 'next', ...ada }, paymentOf(1, 1))
  await buy(wall, { coord: 'next' }, paymentOf(2, 2))
  expect(await read(wall, 'get_founding_machines', { limit: 1 })).toMatchInlineSnapshot(`
    {
      "agents": [
        {
          "blocks": 1,
          "firstSeenAt": 1800000000000,
          "framework": "loom",
          "link": "https://ada.example/",
          "name": "Ada",
          "rank": 1,
          "wallet": "0x0000…0001",
        },
      ],
      "total": 2,
      "untrusted": [
        "agents[].name",
        "agents[].framework",
        "agents[].link",
      ],
    }
  `)
})

test.each([0, 101, 1.5, null])('no registry has a limit of %p', async (limit) => {
  expect(await read(await untouched, 'get_founding_machines', { limit })).toMatchObject({ error: 'invalid_limit' })
})
