import { expect, test } from 'bun:test'
import { paymentOf } from '../../../support/samples.ts'
import { buy, read } from '../../../support/service/agent.ts'
import { openWall } from '../../../support/service/wall.ts'

// For what changes nothing.
const untouched = openWall()

test('room is found where nothing is sold', async () => {
  const wall = await openWall()
  await buy(wall, { coord: '0,0' }, paymentOf(1, 1))
  expect(await read(wall, 'find_space', { w: 2, h: 2, near: '0,0', limit: 1 })).toMatchInlineSnapshot(`
    {
      "asset": "USDC",
      "h": 2,
      "note": "Nothing is held: another buyer may be quicker. Buy block by block in the order given.",
      "spaces": [
        {
          "blocks": [
            "2,1",
            "2,0",
            "1,1",
            "1,0",
          ],
          "coord": "1,0",
          "price": "4.00",
        },
      ],
      "w": 2,
    }
  `)
})

test('the larger the rectangles, the fewer are listed', async () => {
  const wall = await untouched
  const countOf = async (w: number, h: number) =>
    ((await read(wall, 'find_space', { w, h, limit: 20 }))['spaces'] as unknown[]).length
  expect([await countOf(1, 1), await countOf(10, 10), await countOf(160, 90)]).toEqual([20, 6, 1])
})

test.each([
  [{ w: 0 }, 'invalid_size'],
  [{ h: 91 }, 'invalid_size'],
  [{ near: '160,0' }, 'invalid_coordinate'],
  [{ limit: 21 }, 'invalid_limit'],
])('%j is refused with %s', async (args, error) => {
  expect(await read(await untouched, 'find_space', args)).toMatchObject({ error })
})
