import { beforeEach, expect, test } from 'bun:test'
import { rpcLagGuard } from '../../../server/purchase/rpc-lag-guard.ts'
import { fakeChain, type FakeChain } from '../../support/fakes/chain.ts'
import { fakeClock, type FakeClock } from '../../support/fakes/clock.ts'
import { HEAD, NOW, paymentOf } from '../../support/samples.ts'

// Goal: an endpoint that lags behind unsays nothing. Method: two chains, of which the second has not heard of a transfer.

const payment = paymentOf(1, 1)

let clock: FakeClock
let ahead: FakeChain
let asked: FakeChain
let chain: ReturnType<typeof rpcLagGuard>
beforeEach(() => {
  clock = fakeClock(NOW)
  ahead = fakeChain()
  ahead.land(payment)
  asked = ahead
  const balanced = { ...ahead, read: (key: typeof payment) => asked.read(key) }
  chain = rpcLagGuard({ ...balanced, status: (one, head) => asked.status(one, head) }, clock)
})

const lag = () => {
  asked = fakeChain()
}

test('what was shown as used is not unused because another endpoint has not heard of it', async () => {
  expect(await chain.read(payment)).toMatchObject({ spent: true })
  lag()
  expect(await chain.read(payment)).toBe('silent')
  expect(await chain.status(payment, HEAD)).toEqual({ kind: 'silent' })
})

test('an authorization that nobody showed as used is unused', async () => {
  lag()
  expect(await chain.read(payment)).toMatchObject({ spent: false })
  expect(await chain.status(payment, HEAD)).toEqual({ kind: 'unspent' })
})

test('once it is known what used it, a reorganisation can be seen', async () => {
  await chain.read(payment)
  expect((await chain.status(payment, HEAD)).kind).toBe('paid')
  lag()
  expect(await chain.status(payment, HEAD)).toEqual({ kind: 'unspent' })
})

test('what is never shown again is unused in the end', async () => {
  await chain.read(payment)
  lag()
  clock.pass(10 * 60_000)
  expect(await chain.read(payment)).toMatchObject({ spent: false })
})

test('strangers who name used authorizations without end take no room', async () => {
  await chain.read(payment)
  for (let nonce = 2; nonce < 10_003; nonce++) {
    ahead.cancel(paymentOf(1, nonce))
    await chain.read(paymentOf(1, nonce))
  }
  lag()
  expect(await chain.read(payment)).toMatchObject({ spent: false })
  expect(await chain.read(paymentOf(1, 10_002))).toBe('silent')
})
