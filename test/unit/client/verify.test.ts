import { expect, test } from 'bun:test'
import type { ChainFacts, ChainPayment } from '../../../server/client/verify/chain-facts.ts'
import type { Claims } from '../../../server/client/verify/claims.ts'
import { judgeClaims } from '../../../server/client/verify/judge.ts'
import type { FindingKind } from '../../../server/client/verify/verdict.ts'
import type { SaleDeed } from '../../../shared/contract/deeds.ts'
import { type Order, computeOrderNonce, formatOrderText } from '../../../shared/order.ts'
import { networks } from '../../../shared/usdc.ts'
import { truncateWallet } from '../../../shared/wallet.ts'
import { parseBlockOrThrow, toHash, createWalletAddress } from '../../support/samples.ts'

// Goal: the findings about a wall follow from its claims and the chain alone. Method: an honest wall with one unbound
// block, one bound block and an area, with one change in each test.

const HOST = 'wall.test'
const PAYEE = createWalletAddress(0xa11ce)
const TOKEN = networks['eip155:8453'].token.address
const DOLLAR = 1_000_000n

/** The payment of the `n`-th payer, for this many blocks. */
const createChainPayment = (n: number, blocks: number, nonce = toHash(n)): ChainPayment => ({
  payer: createWalletAddress(n),
  to: PAYEE,
  nonce,
  amount: BigInt(blocks) * DOLLAR,
  tx: toHash(100 + n),
  token: TOKEN,
  height: 10n,
})

const createDeed = (payment: ChainPayment, seq: number, blocks: SaleDeed['blocks']): SaleDeed => ({
  seq,
  blocks,
  wallet: truncateWallet(payment.payer),
  tx: payment.tx,
  nonce: payment.nonce ?? '',
  amount: payment.amount.toString(),
  payTo: payment.to,
  claimedAt: 0,
  settled: true,
})

const ORDER: Order = { host: HOST, block: '5,5', message: 'hello' }
const SALT = toHash(0x5a17)
const computeBoundNonce = (order: Order) => computeOrderNonce(formatOrderText(order), SALT)

const PAYMENTS = [
  createChainPayment(1, 1),
  createChainPayment(2, 1, computeBoundNonce(ORDER)),
  createChainPayment(3, 2),
] as const
const [FIRST, SECOND, THIRD] = PAYMENTS
const DEEDS = [
  createDeed(FIRST, 1, { coord: '3,4' }),
  { ...createDeed(SECOND, 2, { coord: '5,5' }), salt: SALT, order: ORDER },
  createDeed(THIRD, 3, { at: '7,7', w: 2, h: 1 }),
] as const

const SOLD = [
  ['3,4', 1],
  ['5,5', 2],
  ['7,7', 3],
  ['8,7', 3],
] as const

const HONEST: Claims = {
  host: HOST,
  network: 'eip155:8453',
  asset: TOKEN,
  payTo: [PAYEE],
  deeds: DEEDS,
  owed: [],
  sales: SOLD.map(([coord, payer], at) => ({
    seq: at + 1,
    i: parseBlockOrThrow(coord),
    coord,
    t: 0,
    agent: { id: payer, name: null, wallet: truncateWallet(createWalletAddress(payer)), framework: null },
    ...(coord === '5,5' ? { m: 'hello' } : {}),
  })),
  shown: SOLD.map(([coord, payer]) => ({
    i: parseBlockOrThrow(coord),
    wallet: truncateWallet(createWalletAddress(payer)),
  })),
  lastShown: 4,
  asksAt: PAYEE,
}

const createFacts = (changes: Partial<ChainFacts> = {}): ChainFacts => ({
  head: { height: 1000n, time: 3_600_000 },
  payments: PAYMENTS,
  failed: new Set(),
  missing: new Set(),
  times: new Map(),
  ...changes,
})

const listFindingKinds = (claims: Partial<Claims>, chain = createFacts()) =>
  judgeClaims({ ...HONEST, ...claims }, chain).findings.map(({ kind }) => kind)

/** The deeds, with the one at index `n` changed. */
const changeDeed = (n: number, change: Partial<SaleDeed>) => ({
  deeds: DEEDS.map((deed, at) => (at === n ? { ...deed, ...change } : deed)),
})

test('verify reports no findings for an honest wall, and counts its blocks and payments', () => {
  expect(judgeClaims(HONEST, createFacts())).toEqual({
    findings: [],
    blocks: 4,
    amount: 4n * DOLLAR,
    bound: 1,
    boundToFile: 0,
    unbound: 3,
    hiddenOrders: 0,
    otherHosts: [],
    unconfirmed: 0,
    credits: { open: 0, paidBack: 0, notProved: 0 },
    noted: 0,
    notedAmount: 0n,
    plain: 0,
    young: 0,
  })
})

test('verify reports no findings for a wall that has sold nothing', () => {
  const nothing = { deeds: [], sales: [], shown: [], lastShown: 0 }
  expect(judgeClaims({ ...HONEST, ...nothing }, createFacts({ payments: [] }))).toMatchObject({
    findings: [],
    blocks: 0,
    amount: 0n,
  })
})

const wrong: readonly (readonly [what: string, claims: Partial<Claims>, finds: readonly FindingKind[]])[] = [
  [
    'a block other than the ordered one',
    changeDeed(1, { blocks: { coord: '5,6' } }),
    ['order_changed', 'block_without_deed', 'block_not_shown'],
  ],
  [
    'an area that covers a block of another owner',
    changeDeed(2, { blocks: { at: '5,5', w: 2, h: 1 } }),
    ['block_sold_twice', 'block_without_deed', 'block_without_deed', 'block_not_shown'],
  ],
  ['a salt without an order', changeDeed(0, { salt: SALT }), ['order_changed']],
  [
    'a changed text that is not marked as hidden',
    changeDeed(1, { order: { ...ORDER, message: 'hi' } }),
    ['order_changed'],
  ],
  [
    'a picture that was not ordered, even a malformed one',
    { sales: HONEST.sales.map((sale) => (sale.coord === '5,5' ? { ...sale, px: 'AQ==' } : sale)) },
    ['order_changed'],
  ],
  [
    'an owner on the canvas that differs from the buyer in the deed',
    { shown: HONEST.shown.map((it) => ({ ...it, wallet: '0x0000…0001' })) },
    ['another_owner', 'another_owner', 'another_owner'],
  ],
  ['a payment address that the wall does not list', { asksAt: createWalletAddress(0xb0b) }, ['another_address']],
  [
    'a sale in the feed that is missing from the deeds',
    { deeds: DEEDS.slice(0, 2), sales: HONEST.sales, shown: [], lastShown: 0 },
    ['block_without_deed', 'block_without_deed', 'payment_without_deed'],
  ],
]

test.each(wrong)('verify reports %s', (_, claims, finds) => {
  expect(listFindingKinds(claims)).toEqual([...finds])
})

test('verify accepts any position of the right size if the order was for the next open block, or if its payment settled late', () => {
  const next: Order = { host: HOST, block: 'next', message: 'hello' }
  const payments = [FIRST, createChainPayment(2, 1, computeBoundNonce(next)), THIRD]
  const nextDeed = changeDeed(1, { nonce: computeBoundNonce(next), order: next })
  expect(listFindingKinds(nextDeed, createFacts({ payments }))).toEqual([])
  const late: Order = { host: HOST, block: '1,1', message: 'hello' }
  const lateDeed = { nonce: computeBoundNonce(late), order: late, placedElsewhere: true as const }
  const chain = createFacts({ payments: [FIRST, createChainPayment(2, 1, computeBoundNonce(late)), THIRD] })
  expect(listFindingKinds(changeDeed(1, lateDeed), chain)).toEqual([])
  expect(listFindingKinds(changeDeed(1, { nonce: computeBoundNonce(late), order: late }), chain)).toEqual([
    'order_changed',
  ])
})

test('neither an order with a hidden part nor an order for a different host is a finding, but both are reported', () => {
  const hidden = changeDeed(1, { order: { ...ORDER, message: null }, hidden: ['message'] })
  expect(judgeClaims({ ...HONEST, ...hidden }, createFacts())).toMatchObject({
    findings: [],
    bound: 0,
    hiddenOrders: 1,
  })
  expect(judgeClaims({ ...HONEST, host: 'other.test' }, createFacts())).toMatchObject({
    findings: [],
    otherHosts: [HOST],
  })
})

test('an old payment without a deed is reported, unless its amount is below every price or it is among the credits', () => {
  const createStrayFacts = (amount: bigint) =>
    createFacts({ payments: [...PAYMENTS, { ...createChainPayment(9, 1), amount }] })
  expect(listFindingKinds({}, createStrayFacts(DOLLAR))).toEqual(['payment_without_deed'])
  expect(listFindingKinds({}, { ...createStrayFacts(DOLLAR), times: new Map([[10n, 3_000_000]]) })).toEqual([])
  expect(listFindingKinds({}, createStrayFacts(DOLLAR / 2n))).toEqual([])
  const note = {
    wallet: truncateWallet(createWalletAddress(9)),
    nonce: toHash(9),
    tx: null,
    amount: null,
    paidOut: null,
  }
  expect(judgeClaims({ ...HONEST, owed: [note] }, createStrayFacts(DOLLAR))).toMatchObject({
    findings: [],
    noted: 1,
    notedAmount: DOLLAR,
  })
  expect(
    judgeClaims(HONEST, createFacts({ payments: [...PAYMENTS, { ...createChainPayment(9, 1), nonce: null }] })),
  ).toMatchObject({
    plain: 1,
  })
})

test('deeds up to a given number are not looked up on the chain, but they still account for their payments', () => {
  expect(judgeClaims(HONEST, createFacts({ payments: [THIRD] }), 2)).toMatchObject({ findings: [], blocks: 2 })
  expect(judgeClaims(HONEST, createFacts(), 2)).toMatchObject({ findings: [], blocks: 2 })
})

test('a deed whose payment is in the newest blocks of the chain is verified, and counted as unconfirmed', () => {
  const payments = PAYMENTS.map((payment) => ({ ...payment, height: 995n }))
  expect(judgeClaims(HONEST, createFacts({ payments }))).toMatchObject({ findings: [], blocks: 4, unconfirmed: 3 })
})
