import { expect, test } from 'bun:test'
import type { Payment } from '../../../../server/domain/purchase/payment.ts'
import { paymentOf } from '../../../support/samples.ts'
import { callTool } from '../../../support/service/agent.ts'
import { openWall, payloadOf } from '../../../support/service/wall.ts'

// Goal: an area is bought over MCP as over HTTP. Method: the tool on a wall on the real engine.

const paymentFor = (blocks: number, payer: number): Payment => {
  const { accepted, ...payment } = paymentOf(payer, payer)
  const amount = BigInt(blocks) * payment.amount
  return { ...payment, amount, accepted: { ...accepted, amount } }
}

const paying = (blocks: number, payer: number) => payloadOf(paymentFor(blocks, payer))

test('without a payment the terms are of all its blocks', async () => {
  const wall = await openWall()
  const result = await callTool(wall, 'buy_area', { w: 4, h: 3 })
  expect(result).toMatchObject({
    isError: true,
    structuredContent: {
      code: 402,
      error: 'payment_required',
      resource: { url: 'https://wall.test/mcp' },
      accepts: [{ amount: '12000000' }],
      extensions: { bazaar: { info: { input: { type: 'mcp', toolName: 'buy_area' } } } },
    },
  })
})

test('a payment buys it whole, and answers with the receipt and the settlement', async () => {
  const wall = await openWall()
  const pixels = new Uint8Array(200).fill(7).toBase64()
  const result = await callTool(wall, 'buy_area', { at: '3,4', w: 2, h: 1, pixels, message: 'hi' }, paying(2, 1))
  expect(result).toMatchObject({
    structuredContent: {
      area: '3,4,2x1',
      blocks: ['3,4', '4,4'],
      deed: { painted: true, message: 'hi', price: { amount: '2.00' } },
    },
    _meta: { 'x402/payment-response': { success: true } },
  })
  expect(wall.facilitator.settled).toHaveLength(1)
})

test('a refusal says which blocks are in the way, and what is wrong with an order', async () => {
  const wall = await openWall()
  await wall.buy('/blocks/4,4', 1)
  const refusalOf = async (given: object, payload?: object) =>
    (await callTool(wall, 'buy_area', given, payload)).structuredContent
  expect(await refusalOf({ at: '3,4', w: 2, h: 1 })).toMatchObject({ error: 'block_taken', taken: ['4,4'] })
  expect(await refusalOf({ at: '3,4', w: 2, h: 1 }, paying(2, 2))).toMatchObject({
    error: 'block_taken',
    taken: ['4,4'],
  })
  expect(await refusalOf({ w: 30, h: 30 })).toMatchObject({ error: 'invalid_area' })
  expect(await refusalOf({ w: 2, h: 1, colour: 'red' })).toMatchObject({ error: 'invalid_body' })
  expect(await refusalOf({ w: 2, h: 1 }, paying(1, 3))).toMatchObject({ error: 'payment_required', code: 402 })
  expect(await refusalOf({ w: 2, h: 1 }, { x402Version: 1 })).toMatchObject({ error: 'invalid_payment' })
})
