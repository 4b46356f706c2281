import { expect, test } from 'bun:test'
import { getAddress } from 'viem/utils'
import { NOW, paymentOf, wallet } from '../../../support/samples.ts'
import { buy, read } from '../../../support/service/agent.ts'
import { editOf, namingOf } from '../../../support/service/signed.ts'
import { HOST, openWall } from '../../../support/service/wall.ts'

const PAINTER = wallet(9)

async function soldWall(painter?: string) {
  const wall = await openWall()
  await buy(wall, { coord: '3,4', ...(painter === undefined ? {} : { painter }) }, paymentOf(1, 1))
  return wall
}

test('a wallet names its painter, who repaints from then on, and is shown to it', async () => {
  const wall = await soldWall()
  const repaint = () => read(wall, 'set_pixels', { coord: '3,4', ...editOf(9, '3,4', { message: 'painted' }) })
  expect(await repaint()).toMatchObject({ error: 'unauthorized' })
  expect(await read(wall, 'set_painter', namingOf(1, PAINTER))).toEqual({ updated: true })
  expect(await repaint()).toMatchObject({ updated: true, deed: { message: 'painted' } })
  const shown = getAddress(PAINTER)
  expect(await read(wall, 'my_wall', { wallet: wallet(1) })).toMatchObject({
    painter: shown,
    blocks: [{ painter: shown }],
  })
})

test('whom a purchase names repaints its block', async () => {
  const wall = await soldWall(PAINTER)
  expect(await read(wall, 'set_pixels', { coord: '3,4', ...editOf(9, '3,4', { message: 'painted' }) })).toMatchObject({
    updated: true,
  })
})

test('the text to sign comes from signing_message', async () => {
  const wall = await soldWall()
  for (const [at, painter] of [PAINTER, null].entries()) {
    const args = { kind: 'set_painter', wallet: wallet(1), painter, ts: NOW + at }
    const help = await read(wall, 'signing_message', args)
    expect(help).toMatchObject({
      message: `${HOST}\nset_painter v1\nwallet=${wallet(1)}\nts=${NOW + at}\npainter=${painter ?? ''}`,
    })
    const { body } = help['request'] as { body: object }
    const { signature } = namingOf(1, painter, NOW + at)
    expect(await read(wall, 'set_painter', { ...body, signature })).toEqual({ updated: true })
  }
})

test('what is wrong is told as over HTTP', async () => {
  const wall = await soldWall()
  const refusal = async (change: object) =>
    (await read(wall, 'set_painter', { ...namingOf(1, PAINTER), ...change }))['error']
  expect(await refusal({ painter: 'me' })).toBe('invalid_painter')
  expect(await refusal({ wallet: '0x12' })).toBe('invalid_wallet')
  expect(await refusal({ coord: '3,4' })).toBe('invalid_body')
  expect(await refusal({ ts: 1 })).toBe('stale_signature')
  expect(await refusal({ signature: '0x12' })).toBe('unauthorized')
  expect(await refusal({ wallet: wallet(2) })).toBe('no_purchases')
  expect(await refusal({})).toBeUndefined()
  expect(await refusal({})).toBe('stale_signature')
})
