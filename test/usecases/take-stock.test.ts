import { expect, test } from 'bun:test'
import type { Statement } from '../../server/domain/statement.ts'
import { takeStock } from '../../server/usecases/take-stock.ts'
import { fakeChain } from '../fakes/chain.ts'
import { fakeClock } from '../fakes/clock.ts'
import { blockOf, HEAD, NOW, paymentOf, SILENT, TERMS } from '../ports/samples.ts'

const other = `0x${'b0'.repeat(20)}` as const

function world(changes: Partial<Statement> = {}) {
  const statement: Statement = {
    claimed: 0,
    sales: [],
    credits: [],
    open: [],
    dead: [],
    payouts: [],
    payees: [],
    from: HEAD,
    ...changes,
  }
  const chain = fakeChain()
  const clock = fakeClock(NOW)
  const { amount: price, payTo } = TERMS
  return { chain, clock, price, payTo, audit: { statement: async () => statement } }
}

test('nothing is looked for where nothing was ever paid for, unless a height is named', async () => {
  const wall = world({ from: undefined })
  wall.chain.land(paymentOf(1, 1))
  expect(await takeStock(wall)).toMatchObject({ from: undefined, through: undefined, balance: { balances: true } })
  expect(await takeStock(wall, HEAD)).toMatchObject({ from: HEAD, balance: { orphans: [{ amount: 1_000_000n }] } })
})

test('every address that purchases were to pay is looked at, and today’s', async () => {
  const wall = world({ payees: [other] })
  wall.chain.land(paymentOf(1, 1))
  wall.chain.land(paymentOf(2, 2, { to: other }))
  const stock = await takeStock(wall)
  expect(stock !== 'silent' && stock.balance.orphans).toHaveLength(2)
})

test('an open purchase is told with its age and what the chain says of it', async () => {
  const purchase = {
    payment: paymentOf(1, 1),
    target: 'next' as const,
    block: blockOf('3,4'),
    listing: SILENT,
    head: HEAD,
    state: { kind: 'reserved' as const, uncertain: true, attempt: 1 },
  }
  const wall = world({ open: [{ purchase, since: NOW - 90_000 }] })
  expect(await takeStock(wall)).toMatchObject({ open: [{ ageMs: 90_000, evidence: { kind: 'unspent' } }] })
  const tx = wall.chain.land(purchase.payment)
  expect(await takeStock(wall)).toMatchObject({
    balance: { balances: false, landed: [{ tx }] },
    open: [{ evidence: { kind: 'paid', tx } }],
  })
})

test('an endpoint that fails now and then is asked again, and one that stays silent ends the look', async () => {
  const wall = world()
  const { transfersTo } = wall.chain
  let asked = 0
  const flaky = {
    ...wall.chain,
    transfersTo: async (...asks: Parameters<typeof transfersTo>) => (++asked < 4 ? 'silent' : transfersTo(...asks)),
  }
  expect(await takeStock({ ...wall, chain: { ...flaky } })).not.toBe('silent')
  wall.chain.silent = true
  expect(await takeStock(wall)).toBe('silent')
})
