/** The books: what the store says of the money, held against what arrived on the chain. */

import type { BlockIndex } from '../../../shared/wall.ts'
import { mayBuyBlocks, STRAY_NOTE } from './account.ts'
import { keyOf, type Address, type Hash, type PaymentKey, type UnixMs } from './payment.ts'
import type { Purchase } from './purchase.ts'

/** A sale of one block, or of an area, which begins at `block`. */
export type BookedSale = PaymentKey & {
  readonly block: BlockIndex
  readonly blocks: number
  readonly amount: bigint
  readonly tx: Hash
}

/** A payment that landed when no block was left for it; `paidOut` is where the operator paid it back. */
export type BookedCredit = PaymentKey & { readonly amount: bigint; readonly tx: Hash; readonly paidOut: string | null }

/** A purchase without an end: held, or given back while its payment may still land. */
export type BookedOpen = { readonly purchase: Purchase; readonly since: UnixMs }

/** A payment that the operator dealt with by hand, or that is stray money (`STRAY_NOTE`). */
export type Payout = PaymentKey & { readonly reference: string; readonly at: UnixMs }

/** All that the store says of money, as of one moment. */
export type Statement = {
  readonly claimed: number // blocks that have an owner
  readonly sales: readonly BookedSale[]
  readonly credits: readonly BookedCredit[]
  readonly open: readonly BookedOpen[]
  readonly final: readonly PaymentKey[] // payments that were found never to land
  readonly payouts: readonly Payout[]
  readonly payees: readonly Address[] // every address that purchases were to pay
  readonly from: bigint | undefined // the lowest height at which any payment was first seen
}

/** Money that arrived; `nonce` is `null` when no authorization moved it. */
export type Arrival = {
  readonly payer: Address
  readonly nonce: Hash | null
  readonly amount: bigint
  readonly tx: Hash
}

/** What came of holding the two against each other. */
export type Balance = {
  readonly balances: boolean
  readonly claimed: number
  readonly received: bigint // atomic units, by the authorizations of sales and credits
  readonly owed: bigint // atomic units of credits that were not paid out
  readonly credits: readonly BookedCredit[]
  readonly unpaid: readonly (BookedSale | BookedCredit)[] // whose money is not on the chain
  readonly landed: readonly Arrival[] // money of purchases that are no sale and no credit
  readonly orphans: readonly Arrival[] // a block's price, by an authorization that the store never knew
  readonly byHand: readonly Arrival[] // the same, once the operator dealt with it
  readonly stray: readonly Arrival[] // what was for no block, as it cannot have been or was found not to be
  readonly strayed: bigint // atomic units of it
}

/**
 * Holds the arrivals against the books as they were `before` the chain was read and `after`: a sale of the first must
 * have arrived, and what arrived must be known to the second, however much is sold meanwhile.
 */
export function balanceOf(before: Statement, arrivals: readonly Arrival[], after: Statement, price: bigint): Balance {
  const owedFor = new Map([...after.sales, ...after.credits].map((entry) => [keyOf(entry), entry.amount]))
  const waiting = new Set([...after.open.map(({ purchase }) => keyOf(purchase.payment)), ...after.final.map(keyOf)])
  const notes = new Map(after.payouts.map((payout) => [keyOf(payout), payout.reference]))
  const prices = [price, ...new Set(owedFor.values())]
  const sorted = Map.groupBy(arrivals, ({ payer, nonce, amount }) => {
    const key = nonce === null ? '' : keyOf({ payer, nonce })
    if (owedFor.get(key) === amount) return 'booked'
    if (waiting.has(key)) return 'landed'
    if (nonce === null || !mayBuyBlocks(amount, prices) || notes.get(key) === STRAY_NOTE) return 'stray'
    return notes.has(key) ? 'byHand' : 'orphan'
  })
  const booked = sorted.get('booked') ?? []
  const arrived = new Set(booked.map(({ payer, nonce }) => `${payer}:${nonce}`))
  const unpaid = [...before.sales, ...before.credits].filter((entry) => !arrived.has(keyOf(entry)))
  const [landed, orphans] = [sorted.get('landed') ?? [], sorted.get('orphan') ?? []]
  const stray = sorted.get('stray') ?? []
  return {
    balances:
      unpaid.length + landed.length + orphans.length === 0 &&
      [before, after].every(({ claimed, sales }) => claimed === blocksSold(sales)),
    claimed: after.claimed,
    received: amountOf(booked),
    owed: after.credits.reduce((sum, { amount, paidOut }) => (paidOut === null ? sum + amount : sum), 0n),
    credits: after.credits,
    unpaid,
    landed,
    orphans,
    byHand: sorted.get('byHand') ?? [],
    stray,
    strayed: amountOf(stray),
  }
}

const blocksSold = (sales: readonly BookedSale[]): number => sales.reduce((sum, { blocks }) => sum + blocks, 0)

const amountOf = (arrivals: readonly Arrival[]): bigint => arrivals.reduce((sum, { amount }) => sum + amount, 0n)
