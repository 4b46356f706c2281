import { expect, test } from 'bun:test'
import { paymentOf, wallet } from '../../../support/samples.ts'
import { buy, read } from '../../../support/service/agent.ts'
import { openWall } from '../../../support/service/wall.ts'

// For what changes nothing.
const untouched = openWall()

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
