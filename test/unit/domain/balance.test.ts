import { describe, expect, test } from 'bun:test'
import {
  compareBooks,
  type BookedCredit,
  type BookedSale,
  type Statement,
} from '../../../server/domain/purchase/balance.ts'
import type { Arrival } from '../../../shared/chain/arrivals.ts'
import {
  parseBlockOrThrow,
  EMPTY_BOOKS as EMPTY,
  toHash,
  TERMS,
  createWalletAddress,
  createUncertainPurchase,
} from '../../support/samples.ts'

const PRICE = TERMS.amount

/** The payment of payer `n`, as recorded and as it arrives. */
const createPayment = (n: number) => ({
  payer: createWalletAddress(n),
  nonce: toHash(n),
  amount: PRICE,
  tx: toHash(100 + n),
})
const createSale = (n: number): BookedSale => ({
  ...createPayment(n),
  block: parseBlockOrThrow('3,4'),
  blocks: 1,
  head: 0n,
})
const createCredit = (n: number, paidOut: string | null = null): BookedCredit => ({
  ...createPayment(n),
  head: 0n,
  paidOut,
})
const createArrival = (n: number, changes: Partial<Arrival> = {}): Arrival => ({ ...createPayment(n), ...changes })
const createBooks = (changes: Partial<Statement>): Statement => ({
  ...EMPTY,
  claimed: changes.sales?.length ?? 0,
  ...changes,
})
const createOpenPurchase = (n: number) => ({ purchase: createUncertainPurchase(n), since: 0 })

/** The balance if nothing is sold while the chain is read. */
const computeBalance = (statement: Statement, arrivals: readonly Arrival[]) =>
  compareBooks(statement, arrivals, statement)

describe('books that balance', () => {
  test('the books of a wall without sales or incoming payments balance', () => {
    expect(computeBalance(EMPTY, [])).toMatchObject({ balances: true, claimed: 0, received: 0n, owed: 0n })
  })

  test('the books balance if each sale and each credit has its payment', () => {
    const statement = createBooks({
      sales: [createSale(1), createSale(2)],
      credits: [createCredit(3), createCredit(4, 'refund 1')],
    })
    const arrivals = [1, 2, 3, 4].map((n) => createArrival(n))
    const expected = { balances: true, claimed: 2, received: 4n * PRICE, owed: PRICE }
    expect(computeBalance(statement, arrivals)).toMatchObject(expected)
  })

  test('amounts that are not whole cents and transfers without an authorization are stray, and the books still balance', () => {
    const stray = [createArrival(1, { nonce: null }), createArrival(2, { amount: 5n })]
    expect(computeBalance(EMPTY, stray)).toMatchObject({ balances: true, received: 0n, stray, strayed: PRICE + 5n })
  })

  test('if the operator booked a payment of the block price as stray, it is listed only as stray, and the books still balance', () => {
    const booked = createBooks({
      payouts: [{ payer: createWalletAddress(1), nonce: toHash(1), reference: 'stray', at: 0 }],
    })
    const stray = [createArrival(1)]
    expect(computeBalance(booked, stray)).toMatchObject({
      balances: true,
      received: 0n,
      orphans: [],
      byHand: [],
      stray,
    })
  })

  test('an open purchase whose money has not arrived does not unbalance the books', () => {
    expect(computeBalance(createBooks({ open: [createOpenPurchase(1)] }), [])).toMatchObject({ balances: true })
  })

  test('a block that is sold while the chain is read does not unbalance the books', () => {
    const sold = createBooks({ sales: [createSale(1)] })
    expect(compareBooks(EMPTY, [], sold).balances).toBe(true)
    expect(compareBooks(EMPTY, [createArrival(1)], sold).balances).toBe(true)
  })
})

describe('books that do not balance', () => {
  test('a sale or credit whose money never arrived, or arrived in a different amount, unbalances the books', () => {
    expect(computeBalance(createBooks({ sales: [createSale(1)] }), [])).toMatchObject({
      balances: false,
      unpaid: [createSale(1)],
    })
    expect(computeBalance(createBooks({ credits: [createCredit(1)] }), [])).toMatchObject({
      balances: false,
      unpaid: [createCredit(1)],
    })
    expect(computeBalance(createBooks({ sales: [createSale(1)] }), [createArrival(1, { amount: 1n })]).balances).toBe(
      false,
    )
  })

  test('a payment by another payer with the same nonce does not pay for a sale', () => {
    const foreign = createArrival(1, { payer: createWalletAddress(9) })
    expect(computeBalance(createBooks({ sales: [createSale(1)] }), [foreign])).toMatchObject({
      unpaid: [createSale(1)],
      orphans: [foreign],
    })
  })

  test('money that arrived for an open or released purchase unbalances the books', () => {
    expect(computeBalance(createBooks({ open: [createOpenPurchase(1)] }), [createArrival(1)])).toMatchObject({
      balances: false,
      landed: [createArrival(1)],
    })
    const final = createBooks({ final: [{ payer: createWalletAddress(1), nonce: toHash(1) }] })
    expect(computeBalance(final, [createArrival(1)])).toMatchObject({ balances: false, landed: [createArrival(1)] })
  })

  test('a payment of the block price without a known purchase unbalances the books until the operator resolves it', () => {
    expect(computeBalance(EMPTY, [createArrival(1)])).toMatchObject({ balances: false, orphans: [createArrival(1)] })
    const resolved = createBooks({
      payouts: [{ payer: createWalletAddress(1), nonce: toHash(1), reference: 'refund', at: 0 }],
    })
    expect(computeBalance(resolved, [createArrival(1)])).toMatchObject({
      balances: true,
      orphans: [],
      byHand: [createArrival(1)],
    })
  })

  test('any amount in whole cents without a known purchase unbalances the books, whatever the price is now', () => {
    const orphans = [createArrival(2, { amount: 30_000n }), createArrival(3, { amount: 4n * PRICE })]
    const fragment = createArrival(4, { amount: 30_001n })
    expect(computeBalance(EMPTY, [...orphans, fragment])).toMatchObject({ balances: false, orphans, stray: [fragment] })
  })

  test('a block with an owner but without a sale unbalances the books', () => {
    expect(computeBalance({ ...EMPTY, claimed: 1 }, []).balances).toBe(false)
  })
})
