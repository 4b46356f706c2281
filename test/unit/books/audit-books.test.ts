import { describe, expect, test } from 'bun:test'
import { auditBooks } from '../../../server/books/audit-books.ts'
import type { Statement } from '../../../server/domain/purchase/balance.ts'
import type { Chain, KeptReceipts, ReceiptArchive } from '../../../server/ports.ts'
import { createFakeChain } from '../../support/fakes/chain.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import {
  parseBlockOrThrow,
  EMPTY_BOOKS,
  toHash,
  HEAD,
  NOW,
  createTestPayment,
  TERMS,
  createUncertainPurchase,
} from '../../support/samples.ts'

const other = `0x${'b0'.repeat(20)}` as const

const NOTHING: Statement = { ...EMPTY_BOOKS, from: HEAD }

function createWorld(changes: Partial<Statement> = {}) {
  const statement: Statement = { ...NOTHING, ...changes }
  const chain = createFakeChain()
  const clock = createFakeClock(NOW)
  const { payTo } = TERMS
  const kept: KeptReceipts[] = []
  const archive: ReceiptArchive = {
    read: async () => [...kept],
    write: async (receipts) => void kept.splice(0, kept.length, ...receipts),
  }
  return { chain, clock, archive, kept, payTo, audit: { readStatement: async () => statement } }
}

test('if the books contain no purchases, the chain is not searched, unless a height is given', async () => {
  const wall = createWorld({ from: undefined })
  wall.chain.transferPayment(createTestPayment(1, 1))
  expect(await auditBooks(wall)).toMatchObject({ from: undefined, through: undefined, balance: { balances: true } })
  expect(await auditBooks(wall, HEAD)).toMatchObject({ from: HEAD, balance: { orphans: [{ amount: 1_000_000n }] } })
})

test('a sale from before the given height is not reported as unpaid, but a later sale without a payment is', async () => {
  const [early, late] = [createTestPayment(1, 1), createTestPayment(2, 2)]
  const sale = { block: parseBlockOrThrow('3,4'), blocks: 1, tx: toHash(1), amount: early.amount }
  const sales = [
    { ...sale, payer: early.payer, nonce: early.nonce, head: HEAD },
    { ...sale, payer: late.payer, nonce: late.nonce, head: HEAD + 9n },
  ]
  const wall = createWorld({ claimed: 2, sales })
  wall.chain.transferPayment(early)
  const found = await auditBooks(wall, HEAD + 9n)
  expect(found !== 'silent' && found.balance.unpaid.map(({ payer }) => payer)).toEqual([late.payer])
})

test('if a block is sold while the chain is read, the books contain both the sale and its payment', async () => {
  const wall = createWorld()
  const payment = createTestPayment(1, 1)
  const sold = {
    block: parseBlockOrThrow('3,4'),
    blocks: 1,
    amount: payment.amount,
    tx: wall.chain.transferPayment(payment),
    head: HEAD,
  }
  const later = { ...NOTHING, claimed: 1, sales: [{ ...sold, payer: payment.payer, nonce: payment.nonce }] }
  const statements: readonly Statement[] = [NOTHING, later]
  let reports = 0
  const audit = { readStatement: async () => statements[reports++] ?? later }
  expect(await auditBooks({ ...wall, audit })).toMatchObject({ balance: { balances: true, claimed: 1 } })
})

test('the search covers the current payment address, and every address that purchases were paid to', async () => {
  const wall = createWorld({ payees: [other] })
  wall.chain.transferPayment(createTestPayment(1, 1))
  wall.chain.transferPayment(createTestPayment(2, 2, { to: other }))
  const stock = await auditBooks(wall)
  expect(stock !== 'silent' && stock.balance.orphans).toHaveLength(2)
})

test('an open purchase is listed with its age and its state on the chain', async () => {
  const purchase = createUncertainPurchase(1)
  const wall = createWorld({ open: [{ purchase, since: NOW - 90_000 }] })
  expect(await auditBooks(wall)).toMatchObject({ open: [{ ageMs: 90_000, evidence: { kind: 'unspent' } }] })
  const tx = wall.chain.transferPayment(purchase.payment)
  expect(await auditBooks(wall)).toMatchObject({
    balance: { balances: false, landed: [{ tx }] },
    open: [{ evidence: { kind: 'paid', tx } }],
  })
})

test('an endpoint that sometimes fails is called again, and an endpoint that stays silent ends the search', async () => {
  const wall = createWorld()
  const { readTransfers } = wall.chain
  let asked = 0
  const flaky = {
    ...wall.chain,
    transfersTo: async (...asks: Parameters<typeof readTransfers>) => (++asked < 4 ? 'silent' : readTransfers(...asks)),
  }
  expect(await auditBooks({ ...wall, chain: { ...flaky } })).not.toBe('silent')
  wall.chain.silent = true
  expect(await auditBooks(wall)).toBe('silent')
})

describe('the cached chain history', () => {
  const sold = createTestPayment(1, 1)
  const sale = {
    payer: sold.payer,
    nonce: sold.nonce,
    amount: sold.amount,
    block: parseBlockOrThrow('3,4'),
    blocks: 1,
    head: HEAD,
  }

  /** A wall whose only sale was long ago, and the heights from which its chain was read. */
  function createOldSales(changes: Partial<Statement> = {}) {
    const wall = createWorld()
    const tx = wall.chain.transferPayment(sold)
    for (let i = 0; i < 1500; i++) wall.chain.transferDirectly(sold.payer, other, 1n)
    const statement = { ...NOTHING, claimed: 1, sales: [{ ...sale, tx }], from: HEAD, ...changes }
    const asked: bigint[] = []
    const chain: Chain = {
      ...wall.chain,
      readTransfers: (payee, from) => {
        asked.push(from)
        return wall.chain.readTransfers(payee, from)
      },
    }
    return { ...wall, asked, give: wall.chain.transferDirectly, chain, audit: { readStatement: async () => statement } }
  }

  test('chain history is not read again once the books have balanced, except for chain blocks that may still be replaced', async () => {
    const wall = createOldSales()
    const first = await auditBooks(wall)
    expect(first).toMatchObject({ from: HEAD, balance: { balances: true, received: 1_000_000n } })
    expect(await auditBooks(wall)).toEqual(first)
    expect(wall.asked).toEqual([HEAD, HEAD + 502n])
  })

  test('chain history is read again if the books did not balance', async () => {
    const wall = createOldSales({ claimed: 2 })
    expect(await auditBooks(wall)).toMatchObject({ balance: { balances: false } })
    await auditBooks(wall)
    expect(wall.asked).toEqual([HEAD, HEAD])
  })

  test('chain history is read again if the audit begins at an earlier height than before, or is for a different payee', async () => {
    const wall = createOldSales()
    await auditBooks(wall)
    await auditBooks(wall, HEAD - 5n)
    await auditBooks({ ...wall, payTo: other })
    expect(wall.asked).toEqual([HEAD, HEAD - 5n, HEAD])
  })
})
