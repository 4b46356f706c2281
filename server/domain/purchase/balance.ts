/** The books: compares what the database says about money with what arrived on the chain. */

import { type Arrival, matchArrivals } from '../../../shared/chain/arrivals.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { isStray } from './account.ts'
import { toPaymentKey, type Address, type Hash, type PaymentKey, type UnixMs } from './payment.ts'
import type { Purchase } from './purchase.ts'
import type { Holding } from './target.ts'

/** A sale of one block, or of an area whose top left block is `block`. */
export type BookedSale = PaymentKey & {
  readonly block: BlockIndex
  readonly blocks: number
  readonly amount: bigint
  readonly tx: Hash
  readonly head: bigint // height of the chain before the payment was sent
}

/** A payment that settled when no block was left for it. `paidOut` is the reference of the operator's refund. */
export type BookedCredit = Pick<BookedSale, 'payer' | 'nonce' | 'amount' | 'tx' | 'head'> & {
  readonly paidOut: string | null
}

/** An unfinished purchase: held, or released while its payment may still settle. */
export type BookedOpen = { readonly purchase: Purchase; readonly since: UnixMs }

/** A payment that the operator paid back by hand, or that is booked as stray (see `isStray`). */
export type Payout = PaymentKey & { readonly reference: string; readonly at: UnixMs }

/**
 * A movement of money as accountants list it: a sale, a credit (dated by the start of its purchase), or money that the
 * operator paid back. The amount of money paid back is known only for a credit.
 */
export type MoneyEntry = PaymentKey & {
  readonly kind: 'sale' | 'credit' | 'payout'
  readonly at: UnixMs
  readonly holding: Holding | null // what was bought
  readonly amount: bigint | null
  readonly tx: Hash | null // the transaction in which the money arrived
  readonly network: string
  readonly reference: string | null // says how a payout was made; null for a sale or a credit
}

/** Everything the database says about money at one moment. */
export type Statement = {
  readonly claimed: number // blocks that have an owner
  readonly sales: readonly BookedSale[]
  readonly credits: readonly BookedCredit[]
  readonly open: readonly BookedOpen[]
  readonly final: readonly PaymentKey[] // payments that can never settle
  readonly payouts: readonly Payout[]
  readonly payees: readonly Address[] // every address at which the wall was paid or asked to be paid
  readonly from: bigint | undefined // the lowest height at which any payment was first seen
}

/** The result of comparing the books with the chain. */
export type Balance = {
  readonly balances: boolean
  readonly claimed: number
  readonly received: bigint // atomic units, for sales and credits
  readonly owed: bigint // atomic units of credits not paid back yet
  readonly credits: readonly BookedCredit[]
  readonly unpaid: readonly (BookedSale | BookedCredit)[] // booked, but their money is not on the chain
  readonly landed: readonly Arrival[] // arrived for purchases that are neither a sale nor a credit
  readonly orphans: readonly Arrival[] // amounts of whole cents, paid by authorizations that the database does not know
  readonly byHand: readonly Arrival[] // likewise, but the operator has resolved these payments
  readonly stray: readonly Arrival[] // cannot have been for a block, or the operator said that it was not
  readonly strayed: bigint // atomic units of `stray`
}

/**
 * Compares the arrivals with two statements of the books: `before` is from before the chain was read, and `after` from
 * afterwards. A sale made between the two statements would look wrong in a comparison with only one of them. So the
 * payment of every sale and credit in `before` must have arrived, and every arrival must be known in `after`. A payment
 * made below height `from` may have arrived before the range that was read, so it does not count as unpaid.
 */
export function compareBooks(before: Statement, arrivals: readonly Arrival[], after: Statement, from = 0n): Balance {
  const recorded = {
    amounts: new Map([...after.sales, ...after.credits].map((entry) => [toPaymentKey(entry), entry.amount])),
    unfinished: new Set([
      ...after.open.map(({ purchase }) => toPaymentKey(purchase.payment)),
      ...after.final.map(toPaymentKey),
    ]),
    noted: new Map(
      after.payouts.map((payout) => [toPaymentKey(payout), isStray(payout.reference) ? 'stray' : 'resolved'] as const),
    ),
  }
  const { booked, landed, orphans, resolved, stray } = matchArrivals(arrivals, recorded, toPaymentKey)
  const arrived = new Set(booked.map(({ payer, nonce }) => `${payer}:${nonce}`))
  const unpaid = [...before.sales, ...before.credits].filter(
    (entry) => entry.head >= from && !arrived.has(toPaymentKey(entry)),
  )
  return {
    balances:
      unpaid.length + landed.length + orphans.length === 0 &&
      [before, after].every(({ claimed, sales }) => claimed === countBlocksSold(sales)),
    claimed: after.claimed,
    received: sumAmounts(booked),
    owed: after.credits.reduce((sum, { amount, paidOut }) => (paidOut === null ? sum + amount : sum), 0n),
    credits: after.credits,
    unpaid,
    landed,
    orphans,
    byHand: resolved,
    stray,
    strayed: sumAmounts(stray),
  }
}

const countBlocksSold = (sales: readonly BookedSale[]): number => sales.reduce((sum, { blocks }) => sum + blocks, 0)

const sumAmounts = (arrivals: readonly Arrival[]): bigint => arrivals.reduce((sum, { amount }) => sum + amount, 0n)
