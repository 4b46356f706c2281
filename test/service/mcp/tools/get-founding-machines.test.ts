import { expect, test } from 'bun:test'
import { paymentOf } from '../../../support/samples.ts'
import { buy, read } from '../../../support/service/agent.ts'
import { openWall } from '../../../support/service/wall.ts'

// For what changes nothing.
const untouched = openWall()

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
