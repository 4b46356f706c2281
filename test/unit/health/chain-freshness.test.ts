import { beforeEach, expect, test } from 'bun:test'
import { guardChainFreshness } from '../../../server/health/chain-freshness.ts'
import type { Chain } from '../../../server/ports.ts'
import { createFakeChain, type FakeChain } from '../../support/fakes/chain.ts'
import { createFakeClock, type FakeClock } from '../../support/fakes/clock.ts'
import { HEAD, NOW, createTestPayment } from '../../support/samples.ts'

// Goal: no payment is accepted on a stalled chain. Method: a chain that makes one block per transaction, and a clock
// that the test advances.

const payment = createTestPayment(1, 1)
const STALLED = {
  kind: 'stalled' as const,
  what: 'the chain has produced no block for more than a minute, or its endpoint does not show new blocks',
}

let clock: FakeClock
let heard: (string | null)[]
const reportFault = (reason: string | null) => void heard.push(reason)
let asked: FakeChain
let chain: Chain
beforeEach(() => {
  clock = createFakeClock(NOW)
  heard = []
  asked = createFakeChain()
  asked.stands = true
  const readFault = async () => ({ kind: 'none' as const, head: await readHead(asked) })
  chain = guardChainFreshness({ ...asked, checkHealth: readFault }, { clock, report: reportFault })
})

async function readHead(one: Chain): Promise<bigint> {
  const seen = await one.readAuthorization(payment)
  if (seen === 'silent') throw new Error('the chain is silent')
  return seen.head
}

const mineBlock = () => asked.transferDirectly(payment.payer, payment.to, 1n)

test('a chain is believed for a minute after its last block, and no longer', async () => {
  expect(await chain.readAuthorization(payment)).toEqual({ head: HEAD, spent: false })
  clock.advance(59_999)
  expect(await chain.readAuthorization(payment)).toEqual({ head: HEAD, spent: false })
  expect(await chain.checkHealth()).toEqual({ kind: 'none', head: HEAD })
  clock.advance(1)
  expect(await chain.readAuthorization(payment)).toBe('silent')
  expect(await chain.checkHealth()).toEqual(STALLED)
  expect(await chain.readPaymentStatus(payment, HEAD)).toEqual({ kind: 'silent' })
})

test('a slow response does not make a chain count as stalled', async () => {
  const answered = Promise.withResolvers<void>()
  const waits = { ...asked, checkHealth: () => answered.promise.then(() => ({ kind: 'none' as const, head: HEAD })) }
  const slow = guardChainFreshness(waits, { clock, report: reportFault })
  await slow.readAuthorization(payment)
  const asking = slow.checkHealth()
  clock.advance(120_000)
  answered.resolve()
  expect(await asking).toEqual({ kind: 'none', head: HEAD })
  expect(heard).toEqual([null, null])
})

test('a new block restarts the minute for which the chain is believed, whichever call saw the block', async () => {
  await chain.readAuthorization(payment)
  clock.advance(50_000)
  mineBlock()
  expect(await chain.checkHealth()).toEqual({ kind: 'none', head: HEAD + 1n })
  clock.advance(59_999)
  expect(await chain.readAuthorization(payment)).toMatchObject({ spent: false })
})

test('a payment that a stalled chain shows as paid counts as paid', async () => {
  await chain.readAuthorization(payment)
  const tx = asked.transferPayment(payment)
  await chain.readAuthorization(payment)
  clock.advance(60_000)
  expect(await chain.checkHealth()).toEqual(STALLED)
  expect(await chain.readPaymentStatus(payment, HEAD)).toEqual({ kind: 'paid', tx })
})

test('an older height does not count as a new block', async () => {
  const heads = [HEAD + 1n, HEAD, HEAD + 1n]
  const lagging = guardChainFreshness(
    { ...asked, readAuthorization: async () => ({ head: heads.shift() ?? HEAD, spent: false }) },
    { clock, report: reportFault },
  )
  await lagging.readAuthorization(payment)
  clock.advance(30_000)
  await lagging.readAuthorization(payment)
  clock.advance(30_000)
  expect(await lagging.readAuthorization(payment)).toBe('silent')
})

test('each check reports whether the chain moves', async () => {
  await chain.readAuthorization(payment)
  clock.advance(60_000)
  for (let i = 0; i < 2; i++) await chain.checkHealth()
  expect(heard).toEqual([null, STALLED.what, STALLED.what])
  mineBlock()
  await chain.checkHealth()
  await chain.readAuthorization(payment)
  expect(heard.slice(3)).toEqual([null, null])
})

test('if an endpoint does not respond, the chain is reported neither as stalled nor as moving', async () => {
  await chain.readAuthorization(payment)
  asked.silent = true
  clock.advance(60_000)
  expect(await chain.readAuthorization(payment)).toBe('silent')
  expect(heard).toEqual([null])
})
