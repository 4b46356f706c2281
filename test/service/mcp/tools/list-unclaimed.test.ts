import { expect, test } from 'bun:test'
import { paymentOf } from '../../../support/samples.ts'
import { buy, read } from '../../../support/service/agent.ts'
import { openWall } from '../../../support/service/wall.ts'

// For what changes nothing.
const untouched = openWall()

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
