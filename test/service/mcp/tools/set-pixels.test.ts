import { expect, test } from 'bun:test'
import { paymentOf } from '../../../support/samples.ts'
import { buy, callTool, read } from '../../../support/service/agent.ts'
import { editOf } from '../../../support/service/signed.ts'
import { openWall, type Wall } from '../../../support/service/wall.ts'

/** A wall with a block of the first wallet. */
async function openOwned(): Promise<Wall> {
  const wall = await openWall()
  await buy(wall, { coord: '3,4', message: 'old' }, paymentOf(1, 1))
  return wall
}

// For what changes nothing.
const untouched = openOwned()

test('an owner’s signature repaints the block', async () => {
  const wall = await openOwned()
  const edit = editOf(1, '3,4', { pixels: '07'.repeat(100), message: null })
  expect(await read(wall, 'set_pixels', { coord: '3,4', ...edit })).toMatchInlineSnapshot(`
    {
      "deed": {
        "block": {
          "coord": "3,4",
          "index": 643,
        },
        "claimedAt": 1800000000000,
        "link": null,
        "message": null,
        "owner": {
          "framework": null,
          "name": null,
          "wallet": "0x0000…0001",
        },
        "pixels": "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw==",
        "settled": true,
        "state": "claimed",
        "tx": "0x0000000000000000000000000000000000000000000000000000000000000001",
      },
      "untrusted": [
        "deed.owner.name",
        "deed.owner.framework",
        "deed.message",
        "deed.link",
      ],
      "updated": true,
    }
  `)
})

test('a stranger’s signature changes nothing, and is told what the owner would sign', async () => {
  const wall = await untouched
  const edit = editOf(2, '3,4', { message: 'mine' })
  const answer = await callTool(wall, 'set_pixels', { coord: '3,4', ...edit })
  expect(answer.isError).toBe(true)
  expect(answer.structuredContent).toMatchInlineSnapshot(`
    {
      "error": "unauthorized",
      "expected": 
    "wall.test
    set_pixels v2
    block=3,4
    ts=1800000000000
    pixels_present=0
    pixels=
    message_present=1
    message=mine
    link_present=0
    link="
    ,
      "message": "The signature is not from the block’s owner over the expected message (EIP-191 personal_sign).",
    }
  `)
  expect(await read(wall, 'get_block', { coord: '3,4' })).toMatchObject({ deed: { message: 'old' } })
})

const px = '07'.repeat(100)

test.each([
  ['an empty message', '3,4', { message: '' }, 'invalid_message'],
  ['a link without encryption', '3,4', { link: 'http://a.example/' }, 'invalid_link'],
  ['a colour beyond the palette', '3,4', { pixels: 'f0'.repeat(100) }, 'invalid_pixels'],
  ['nothing', '3,4', {}, 'empty_update'],
  ['a block off the wall', '160,0', { pixels: px }, 'invalid_coordinate'],
  ['next', 'next', { pixels: px }, 'invalid_coordinate'],
  ['a block nobody owns', '5,5', { pixels: px }, 'no_owner'],
])('a repaint with %s is refused', async (_, coord, fields, error) => {
  const wall = await untouched
  expect(await read(wall, 'set_pixels', { coord, ...editOf(1, coord, fields) })).toMatchObject({ error })
})

test('a field of another tool is refused', async () => {
  const wall = await untouched
  const edit = editOf(1, '3,4', { pixels: px })
  expect(await read(wall, 'set_pixels', { coord: '3,4', ...edit, px })).toMatchObject({ error: 'invalid_body' })
})

test('a repaint without signature or block is refused, and so is one signed long ago', async () => {
  const wall = await untouched
  const { signature: _, ...unsigned } = editOf(1, '3,4', { pixels: px })
  expect(await read(wall, 'set_pixels', { coord: '3,4', ...unsigned })).toMatchObject({ error: 'invalid_body' })
  expect(await read(wall, 'set_pixels', editOf(1, '3,4', { pixels: px }))).toMatchObject({
    error: 'invalid_coordinate',
  })
  const old = editOf(1, '3,4', { pixels: px }, { ts: wall.clock.now() - 300_001 })
  expect(await read(wall, 'set_pixels', { coord: '3,4', ...old })).toMatchObject({ error: 'stale_signature' })
})

test('a block that is being bought cannot be repainted yet', async () => {
  const wall = await openOwned()
  wall.facilitator.settling = { kind: 'unclear' }
  await buy(wall, { coord: '5,5' }, paymentOf(2, 2))
  const edit = editOf(2, '5,5', { pixels: px })
  expect(await read(wall, 'set_pixels', { coord: '5,5', ...edit })).toMatchObject({ error: 'purchase_pending' })
})
