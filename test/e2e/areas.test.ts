import { describe, expect, test } from 'bun:test'
import { wrapAxiosWithPayment } from '@x402/axios'
import { decodePaymentResponseHeader } from '@x402/core/http'
import { wrapFetchWithPayment } from '@x402/fetch'
import axios from 'axios'
import type { AreaReceipt } from '../../shared/contract/area-order.ts'
import { type AreaBody, coordsOf, orderArea, signArea } from '../support/e2e/area-orders.ts'
import { payingClient } from '../support/e2e/buyer.ts'
import { shareWorld, type World } from '../support/e2e/world.ts'
import { flatPng } from '../support/picture-files.ts'
import { sendWhile } from '../support/wait.ts'

// Goal: areas are bought by stock clients, whole or not at all, whoever else buys there, and whenever the process dies.
// Method: real processes, a real chain and real clients; the books must balance to the dollar at the end.

let world: World

/** Sends the same signed order until it is not told to wait any longer. */
const settled = (body: AreaBody, payment: string): Promise<Response> =>
  sendWhile(503, () => orderArea(world, body, payment))

describe('a wall on a file', () => {
  shareWorld((opened) => void (world = opened), { SETTLE_TIMEOUT_MS: '20000', VERIFY_TIMEOUT_MS: '20000' })

  test('the stock fetch client posts a picture, pays once and owns the area', async () => {
    const wallet = await world.wallet(20)
    const image = flatPng(120, 90, '#ff0000').toBase64()
    const response = await wrapFetchWithPayment(fetch, payingClient(wallet))(`${world.url}/areas`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ at: '20,20', w: 4, h: 3, image, name: 'Ada' }),
    })
    expect(response.status).toBe(200)
    const receipt = (await response.json()) as AreaReceipt
    expect(receipt).toMatchObject({
      area: '20,20,4x3',
      blocks: coordsOf('20,20,4x3'),
      deed: { wallet: wallet.address, name: 'Ada', painted: true, price: { amount: '12.00' } },
    })
    const { transaction } = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
    expect(transaction).toBe(receipt.deed.tx)
    expect(await world.dollarsOf(wallet)).toBe(8)
  })

  test('the stock axios client buys with a POST', async () => {
    const wallet = await world.wallet(4)
    // It is older than the rest of the SDK, and knows the same schemes.
    type OlderClient = Parameters<typeof wrapAxiosWithPayment>[1]
    const client = wrapAxiosWithPayment(axios.create(), payingClient(wallet) as unknown as OlderClient)
    const { status, data } = await client.post<AreaReceipt>(`${world.url}/areas`, { at: '30,20', w: 2, h: 1 })
    expect([status, data.area]).toEqual([200, '30,20,2x1'])
    expect(await world.dollarsOf(wallet)).toBe(2)
  })

  test.each([
    ['before the facilitator sent it on', 'unsent'],
    ['after the money moved', 'moved'],
  ] as const)(
    'kill -9 in a purchase of 400 blocks, %s: the same request ends in the same area, for one payment',
    async (_, when) => {
      const payer = await world.wallet(401)
      const body = {
        at: when === 'moved' ? '100,20' : '100,50',
        w: 20,
        h: 20,
        image: flatPng(200, 200, '#00ff00').toBase64(),
      }
      const payment = await signArea(world, payer, body)
      const { settle } = world.facilitator
      const [calls, forwarded] = [settle.count(), settle.forwarded()]
      settle.next(when === 'moved' ? 'hang-after' : 'hang-before')
      const cut = orderArea(world, body, payment).catch(() => undefined)
      await (when === 'moved' ? settle.forwardedUntil(forwarded + 1) : settle.arrived(calls + 1))
      await world.crash()
      await cut
      const response = await settled(body, payment)
      expect(response.status).toBe(200)
      const receipt = (await response.json()) as AreaReceipt
      expect(receipt.blocks).toEqual([...coordsOf(`${body.at},20x20`)])
      expect(await world.dollarsOf(payer)).toBe(1)
      expect(await (await orderArea(world, body, payment)).json()).toEqual(receipt)
    },
  )
})
