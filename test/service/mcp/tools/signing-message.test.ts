import { beforeAll, expect, test } from 'bun:test'
import { signatureOf } from '../../../support/fakes/wallets.ts'
import { paymentOf, wallet } from '../../../support/samples.ts'
import { buy, read } from '../../../support/service/agent.ts'
import { openWall, type Wall } from '../../../support/service/wall.ts'

let wall: Wall
beforeAll(async () => {
  wall = await openWall()
  await buy(wall, { coord: '3,4', message: 'old' }, paymentOf(1, 1))
})

test('the text for a repaint is told, with a vector to check one’s signer by', async () => {
  const args = { kind: 'set_pixels', coord: '3,4', message: null, link: 'https://ada.example/' }
  expect(await read(wall, 'signing_message', args)).toMatchInlineSnapshot(`
    {
      "digest": "0x0dbcc83d7f47ecf51bdd6b9876c68c20a0c0262f6829a204fc1571ba98baced3",
      "message": 
    "wall.test
    set_pixels v2
    block=3,4
    ts=1800000000000
    pixels_present=0
    pixels=
    message_present=1
    message=
    link_present=1
    link=https://ada.example/"
    ,
      "request": {
        "body": {
          "link": "https://ada.example/",
          "message": null,
          "ts": 1800000000000,
        },
        "method": "PUT",
        "url": "https://wall.test/blocks/3,4",
      },
      "testVector": {
        "address": "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf",
        "digest": "0x9d557ff240c32e5cefbcddade280c94e147a8e23b15f3aed77a422772fb4eb7c",
        "message": 
    "wall.example
    set_pixels v2
    block=80,45
    ts=1800000000000
    pixels_present=0
    pixels=
    message_present=1
    message=hello again
    link_present=1
    link="
    ,
        "privateKey": "0x0000000000000000000000000000000000000000000000000000000000000001",
        "signature": "0xa9cf231da12b59a5558cf3c8039dc97feaed55216a226995842b3ffb60e6d5d32a09f268a56193780916369eb078b264224b305e20c6b911fb8a43edcf0b2aa41c",
      },
      "ts": 1800000000000,
      "validUntil": 1800000300000,
    }
  `)
})

test('what is signed so is what set_pixels takes', async () => {
  const { message, request } = await read(wall, 'signing_message', { kind: 'set_pixels', coord: '3,4', message: 'new' })
  const { body } = request as { body: object }
  const signature = signatureOf(wallet(1), String(message))
  expect(await read(wall, 'set_pixels', { coord: '3,4', ...body, signature })).toMatchObject({
    updated: true,
    deed: { message: 'new' },
  })
})

test('what is signed so is what set_area takes', async () => {
  const args = { kind: 'set_area', area: '3,4,1x1', pixels: new Uint8Array(100).fill(7).toBase64(), link: null }
  const { message, request } = await read(wall, 'signing_message', args)
  expect(message).toStartWith('wall.test\nset_area v1\narea=3,4,1x1\n')
  const { body } = request as { body: object }
  const signature = signatureOf(wallet(1), String(message))
  expect(await read(wall, 'set_area', { area: '3,4,1x1', ...body, signature })).toMatchObject({ updated: true })
})

test('what is signed so is what set_painter takes', async () => {
  const args = { kind: 'set_painter', wallet: wallet(1), painter: null }
  const { message, request } = await read(wall, 'signing_message', args)
  const { body } = request as { body: object }
  const signature = signatureOf(wallet(1), String(message))
  expect(await read(wall, 'set_painter', { ...body, signature })).not.toHaveProperty('error')
})

test('the text to name a wallet is told too', async () => {
  const { message } = await read(wall, 'signing_message', {
    kind: 'register',
    wallet: wallet(1),
    name: 'Ada',
    framework: null,
  })
  expect(message).toContain('register v2')
  expect(message).toContain('name_present=1\nname=Ada\nframework_present=1\nframework=')
})

test.each([
  [{}, 'invalid_body'],
  [{ kind: 'x' }, 'invalid_body'],
  [{ kind: 'set_pixels', coord: '3,4' }, 'empty_update'],
  [{ kind: 'set_pixels', coord: 'next', message: 'x' }, 'invalid_coordinate'],
  [{ kind: 'set_pixels', coord: '5,5', message: 'x' }, 'no_owner'],
  [{ kind: 'set_pixels', coord: '3,4', message: '' }, 'invalid_message'],
  [{ kind: 'set_pixels', coord: '3,4', link: 'x' }, 'invalid_link'],
  [{ kind: 'set_pixels', coord: '3,4', pixels: 'x' }, 'invalid_pixels'],
  [{ kind: 'set_pixels', coord: '3,4', message: 'x', ts: 1 }, 'stale_signature'],
  [{ kind: 'set_area', area: '3,4', message: 'x' }, 'invalid_area'],
  [{ kind: 'set_area', area: '3,4,2x1', message: 'x' }, 'no_owner'],
  [{ kind: 'set_area', area: '3,4,1x1', pixels: 'AAEC' }, 'invalid_pixels'],
  [{ kind: 'register', wallet: 'x', name: 'Ada' }, 'invalid_wallet'],
  [{ kind: 'register', wallet: wallet(1), name: '' }, 'invalid_name'],
  [{ kind: 'register', wallet: wallet(2), name: 'Ada' }, 'no_purchases'],
])('%j is refused with %s, as the change would be', async (args, error) => {
  expect(await read(wall, 'signing_message', args)).toMatchObject({ error })
})
