import { afterAll, beforeAll, expect, test } from 'bun:test'
import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { get } from '../support/e2e/buyer.ts'
import { startWorld, type World } from '../support/e2e/world.ts'

// Goal: the stock client buys by either version of x402. Method: the real process, chain and facilitator; where the client
// is to speak version 1, it is not shown the header of version 2, as it would not be by a server that knows none.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

/** A `fetch` that hides what version 2 added to answers, and notes which payment headers it sent. */
function olderFetch(sent: string[]): typeof fetch {
  const asked = async (input: string | URL | Request, init?: RequestInit) => {
    const request = input instanceof Request ? new Request(input, init) : new Request(input.toString(), init)
    for (const name of ['x-payment', 'payment-signature']) if (request.headers.has(name)) sent.push(name)
    const response = await fetch(request)
    const headers = new Headers(response.headers)
    headers.delete('payment-required')
    headers.delete('payment-response')
    return new Response(response.body, { status: response.status, headers })
  }
  return Object.assign(asked, { preconnect: fetch.preconnect })
}

test('a client of version 1 buys a block with its listing, for one dollar', async () => {
  const wallet = await world.wallet(2)
  const sent: string[] = []
  const client = new x402Client().registerV1('base', new ExactEvmSchemeV1(wallet))
  const pay = wrapFetchWithPayment(olderFetch(sent), client)
  const response = await pay(`${world.url}/blocks/3,4?name=Ada&message=from+version+1`)
  expect(response.status).toBe(200)
  expect(sent).toEqual(['x-payment'])
  expect(await response.json()).toMatchObject({ block: '3,4', deed: { name: 'Ada', message: 'from version 1' } })
  expect(JSON.parse(atob(response.headers.get('x-payment-response') ?? ''))).toMatchObject({
    success: true,
    network: 'base',
    payer: wallet.address,
  })
  expect(await world.dollarsOf(wallet)).toBe(1)
})

test('a client that knows both takes version 2', async () => {
  const wallet = await world.wallet(2)
  const client = new x402Client()
    .register('eip155:8453', new ExactEvmScheme(wallet))
    .registerV1('base', new ExactEvmSchemeV1(wallet))
  const response = await wrapFetchWithPayment(fetch, client)(`${world.url}/blocks/5,4?name=Ada`)
  expect([response.status, response.headers.has('payment-response')]).toEqual([200, true])
  expect(response.headers.has('x-payment-response')).toBe(false)
  expect(await (await get(world, '5,4')).json()).toMatchObject({ state: 'claimed', owner: { name: 'Ada' } })
})
