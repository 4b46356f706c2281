import { expect, test } from 'bun:test'
import { paymentOf } from '../../../support/samples.ts'
import { buy, callTool, pictureSize, read } from '../../../support/service/agent.ts'
import { openWall } from '../../../support/service/wall.ts'

// For what changes nothing.
const untouched = openWall()

test('what buying would accept is told with the block, the terms and a picture of the place', async () => {
  const answer = await callTool(await untouched, 'preview_block', { coord: 'next', name: 'Ada', px: '07'.repeat(100) })
  expect(answer.structuredContent).toMatchInlineSnapshot(`
    {
      "acceptable": true,
      "area": null,
      "block": {
        "coord": "79,44",
        "index": 7119,
      },
      "price": {
        "amount": "1.00",
        "asset": "USDC",
        "network": "eip155:8453",
      },
      "problems": [],
      "request": {
        "method": "GET",
        "url": "https://wall.test/blocks/next?name=Ada&px=07070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707070707",
      },
      "state": "open",
      "terms": {
        "amount": "1000000",
        "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "extra": {
          "name": "USD Coin",
          "primaryType": "TransferWithAuthorization",
          "version": "2",
        },
        "maxTimeoutSeconds": 300,
        "network": "eip155:8453",
        "payTo": "0x00000000000000000000000000000000000A11cE",
        "scheme": "exact",
      },
    }
  `)
  expect(pictureSize(answer).every((side) => side >= 80)).toBe(true)
})

test('every flaw is told at once, and so is a block that is gone', async () => {
  const wall = await openWall()
  await buy(wall, { coord: '3,4' }, paymentOf(1, 1))
  const { acceptable, problems } = await read(wall, 'preview_block', { coord: '3,4', name: '\u202e', link: 5, px: 'x' })
  expect(acceptable).toBe(false)
  expect((problems as { field: string; code: string }[]).map(({ field, code }) => [field, code])).toEqual([
    ['coord', 'block_taken'],
    ['name', 'invalid_listing'],
    ['link', 'invalid_listing'],
    ['px', 'invalid_pixels'],
  ])
})

test('what names no block, or is misspelt, is refused', async () => {
  const wall = await untouched
  expect(await read(wall, 'preview_block', { coord: 'x' })).toMatchObject({ error: 'invalid_coordinate' })
  expect(await read(wall, 'preview_block', { coord: '3,4', colour: 'x' })).toMatchObject({ error: 'invalid_body' })
})
