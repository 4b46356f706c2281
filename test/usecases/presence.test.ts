import { expect, test } from 'bun:test'
import { openSqlite } from '../../db/sqlite/open.ts'
import { presence } from '../../server/usecases/presence.ts'
import { fakeChain } from '../fakes/chain.ts'
import { fakeClock } from '../fakes/clock.ts'
import { fakeJournal } from '../fakes/journal.ts'
import { hold } from '../ports/engine.ts'
import { HEAD, NOW, paymentOf, TERMS, wallet } from '../ports/samples.ts'

// Goal: a store that is older than what was sold is told from one of the present, and nothing a stranger does for free
// looks like that. Method: a chain in memory, a wall in memory, and payments that only one of them knows.

async function openWorld() {
  const [chain, journal, clock] = [fakeChain(), fakeJournal(), fakeClock(NOW)]
  const { horizon, ...engine } = await openSqlite(':memory:', TERMS.network)
  const isPresent = () => presence({ chain, clock, horizon, terms: TERMS }, journal)()
  return { chain, clock, journal, horizon, engine, isPresent }
}

test('a new wall is of the present, and remembers from where', async () => {
  const { chain, horizon, isPresent } = await openWorld()
  chain.land(paymentOf(1, 1))
  expect(await isPresent()).toBe(true)
  expect(await horizon.height()).toBe(HEAD + 1n)
})

test('a store that knows every sale is of the present, one that was never asked is silent', async () => {
  const { chain, engine, isPresent } = await openWorld()
  await hold(engine, 'next', paymentOf(1, 1))
  chain.land(paymentOf(1, 1))
  chain.silent = true
  expect(await isPresent()).toBe(false)
  chain.silent = false
  expect(await isPresent()).toBe(true)
})

test('a price paid for a sale that is not known is not passed over until the operator says so, and told once', async () => {
  const { chain, clock, journal, horizon, engine } = await openWorld()
  await hold(engine, 'next', paymentOf(1, 1))
  chain.land(paymentOf(1, 1))
  const tx = chain.land(paymentOf(2, 2))
  const isPresent = presence({ chain, clock, horizon, terms: TERMS }, journal)
  expect([await isPresent(), await isPresent()]).toEqual([false, false])
  expect(journal.alarms).toMatchObject([{ event: 'orphan', facts: { tx, payer: wallet(2) } }])
  await horizon.reach(HEAD + 2n)
  expect(await isPresent()).toBe(true)
})

test('neither gifts nor odd amounts are taken for sales', async () => {
  const { chain, engine, isPresent } = await openWorld()
  await hold(engine, 'next', paymentOf(1, 1))
  chain.give(wallet(3), TERMS.payTo, TERMS.amount)
  chain.land(paymentOf(4, 4, { amount: 0n }))
  chain.land(paymentOf(5, 5, { to: wallet(6) }))
  expect(await isPresent()).toBe(true)
})

test('what a stranger pays while the wall runs is no sale that was forgotten', async () => {
  const { chain, clock, journal, horizon, isPresent } = await openWorld()
  const stays = presence({ chain, clock, horizon, terms: TERMS }, journal)
  expect(await stays()).toBe(true)
  chain.land(paymentOf(2, 2))
  expect(await isPresent()).toBe(false)
  clock.pass(60_000)
  expect(await stays()).toBe(true)
  expect(await isPresent()).toBe(true)
})
