import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { wall, type Wall } from '../../../server/client/wall.ts'
import { readFeed } from '../../support/e2e/read-wall.ts'
import { shareWorld, type World } from '../../support/e2e/world.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'

// Goal: no proxy between our client and the wall can change what the client buys. Method: a proxy alters requests in
// front of the real wall, chain and facilitator.

let world: World
shareWorld((opened) => void (world = opened))

const scratch = createScratchFolder()

/** How a proxy changes demands for payment, and requests that carry a payment. */
type Alteration = {
  readonly changePath?: (path: string) => string
  readonly changeBody?: (body: Record<string, unknown>) => object
  readonly changePayment?: (payment: Record<string, unknown>) => object
  readonly changeDemand?: (demand: Record<string, unknown>) => object
}

const changeHeader = (header: string, change: (value: Record<string, unknown>) => object) =>
  btoa(JSON.stringify(change(JSON.parse(atob(header)))))

/** Starts a proxy that makes the given changes. */
function startAlteringProxy({ changePath = (it) => it, changeBody, changePayment, changeDemand }: Alteration) {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const headers = new Headers(request.headers)
      const header = headers.get('payment-signature')
      const text = await request.text()
      if (header !== null && changePayment !== undefined)
        headers.set('payment-signature', changeHeader(header, changePayment))
      headers.delete('content-length')
      const sent =
        header === null || changeBody === undefined || text === '' ? text : JSON.stringify(changeBody(JSON.parse(text)))
      const target = world.url + (header === null ? pathname + search : changePath(pathname + search))
      const { method } = request
      const answer = await fetch(target, { method, headers, ...(method === 'POST' ? { body: sent } : {}) })
      const fields = new Headers(answer.headers)
      for (const name of ['content-encoding', 'content-length']) fields.delete(name)
      const terms = fields.get('payment-required')
      if (terms !== null && changeDemand !== undefined)
        fields.set('payment-required', changeHeader(terms, changeDemand))
      return new Response(await answer.arrayBuffer(), { status: answer.status, headers: fields })
    },
  })
}

const clearExtensions = (value: Record<string, unknown>) => ({ ...value, extensions: {} })

const alterations: readonly (readonly [string, Alteration, (wall: Wall) => Promise<unknown>])[] = [
  ['another position', { changePath: (it) => it.replace('50,50', '51,50') }, (it) => it.buy('50,50', { name: 'Ada' })],
  [
    'another message',
    { changePath: (it) => it.replace('hello', 'howdy') },
    (it) => it.buy('next', { message: 'hello' }),
  ],
  [
    'another painter',
    { changePath: (it) => `${it}&painter=0x${'ee'.repeat(20)}` },
    (it) => it.buy('next', { name: 'Ada' }),
  ],
  [
    'no picture',
    { changePath: (it) => it.replace(/&?px=\w+/, '') },
    (it) => it.buy('next', { name: 'A', px: '11'.repeat(100) }),
  ],
  ['another area', { changeBody: (it) => ({ ...it, at: '60,60' }) }, (it) => it.buyArea({ at: '50,60', w: 1, h: 1 })],
  [
    'other pixels',
    { changeBody: (it) => ({ ...it, pixels: btoa('\u0001'.repeat(100)) }) },
    (it) => it.buyArea({ w: 1, h: 1, pixels: new Uint8Array(100) }),
  ],
  [
    'another name and no salt',
    { changePayment: clearExtensions, changePath: (it) => it.replace('Ada', 'Eve') },
    (it) => it.buy('next', { name: 'Ada' }),
  ],
  [
    'another name and removes the order binding from the demand',
    { changeDemand: clearExtensions, changePath: (it) => it.replace('Ada', 'Eve') },
    (it) => it.buy('next', { name: 'Ada' }),
  ],
]

test.each(alterations)(
  'if a proxy changes an order to one with %s, nothing is sold or charged',
  async (name, alteration, buy) => {
    using proxy = startAlteringProxy(alteration)
    const { privateKey, address } = await world.createFundedWallet(1)
    const options = { account: privateKeyToAccount(privateKey), folder: join(scratch, name) }
    const sales = (await readFeed(world)).length
    const error: unknown = await buy(wall(proxy.url, options)).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: 'unknown', code: 'order_mismatch', status: 400, amount: '1.00' })
    expect([(await readFeed(world)).length, await world.network.readBalance(address)]).toEqual([sales, 1_000_000n])
  },
)

test('through a proxy that alters nothing, an order is sold as it was placed', async () => {
  using proxy = startAlteringProxy({})
  const { privateKey } = await world.createFundedWallet(1)
  const options = { account: privateKeyToAccount(privateKey), folder: join(scratch, 'honest') }
  const { deed } = await wall(proxy.url, options).buy('next', { name: 'Ada', message: 'as it was ordered' })
  expect(deed.message).toBe('as it was ordered')
})

test('the client does not pay a wall that states a different host from the one that was called', async () => {
  const { privateKey } = await world.createFundedWallet(1)
  const options = { account: privateKeyToAccount(privateKey), folder: join(scratch, 'host') }
  const there = new URL(world.url)
  there.hostname = 'localhost'
  const error: unknown = await wall(there, options)
    .buy()
    .catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ kind: 'refused', code: 'another_host' })
})
