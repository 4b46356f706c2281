import { expect, test } from 'bun:test'
import { openWall } from '../../http/wall.ts'
import { paymentOf } from '../../ports/samples.ts'
import { buy, definitionOf, read } from '../agent.ts'

// For what changes nothing.
const untouched = openWall()

test('the definition', () => {
  expect(definitionOf('list_unclaimed')).toMatchInlineSnapshot(`
    {
      "annotations": {
        "destructiveHint": false,
        "idempotentHint": true,
        "openWorldHint": false,
        "readOnlyHint": true,
      },
      "description": "Use to pick single open blocks, nearest the wall’s centre or a block you name. Not for a rectangle (find_space), and not needed to buy just any block: buy_block with coord "next" takes the first of this list. Free, no side effects: nothing is held, so another buyer may be quicker. Errors: invalid_coordinate, invalid_limit, too_many_requests, database_unavailable. Returns {blocks, remaining}: blocks nearest first, remaining how many are unsold in all.",
      "inputSchema": {
        "additionalProperties": false,
        "properties": {
          "limit": {
            "default": 20,
            "description": "How many blocks, 1 to 100. Default 20.",
            "examples": [
              5,
            ],
            "maximum": 100,
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
        },
        "type": "object",
      },
      "name": "list_unclaimed",
      "outputSchema": {
        "anyOf": [
          {
            "required": [
              "blocks",
              "remaining",
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
            "type": "array",
          },
          "remaining": {
            "type": "integer",
          },
        },
        "type": "object",
      },
      "title": "List blocks that are for sale",
    }
  `)
})

test('open blocks are listed in the order next sells them, neither sold nor held ones', async () => {
  const wall = await openWall()
  await buy(wall, { coord: 'next' }, paymentOf(1, 1))
  wall.facilitator.settling = { kind: 'unclear' }
  await buy(wall, { coord: '79,45' }, paymentOf(2, 2))
  expect(await read(wall, 'list_unclaimed', { limit: 3 })).toMatchInlineSnapshot(`
    {
      "blocks": [
        {
          "coord": "80,44",
          "index": 7120,
        },
        {
          "coord": "80,45",
          "index": 7280,
        },
        {
          "coord": "79,43",
          "index": 6959,
        },
      ],
      "remaining": 14399,
    }
  `)
})

test('near a block, the nearest come first', async () => {
  const { blocks } = await read(await untouched, 'list_unclaimed', { limit: 3, near: '0,0' })
  expect(blocks).toEqual([
    { coord: '0,0', index: 0 },
    { coord: '1,0', index: 1 },
    { coord: '0,1', index: 160 },
  ])
})

test('twenty are listed when nobody says how many', async () => {
  const { blocks } = await read(await untouched, 'list_unclaimed')
  expect(blocks).toHaveLength(20)
})

test.each([
  [{ limit: 0 }, 'invalid_limit'],
  [{ limit: 101 }, 'invalid_limit'],
  [{ limit: '5' }, 'invalid_limit'],
  [{ near: '160,0' }, 'invalid_coordinate'],
  [{ near: 'centre' }, 'invalid_coordinate'],
])('%j is refused with %s', async (args, error) => {
  expect(await read(await untouched, 'list_unclaimed', args)).toMatchObject({ error })
})
