/**
 * Clients that store nothing: they send a request without a payment, sign the terms, and begin again until they are
 * served. Whatever happens to them, each wish buys at most one block or area, and is paid for at most once.
 */

import { toPaymentKey, type Payment, type Target } from '../../../../server/domain/purchase/payment.ts'
import { isSold } from '../../../../server/domain/purchase/purchase.ts'
import { resolveTarget } from '../../../../server/domain/purchase/target.ts'
import { isNext } from '../areas.ts'
import { Violation } from '../check.ts'
import type { Book } from '../ledger-model.ts'
import { isCharged, computeTime, type World } from '../world.ts'
import type { Payer } from './payers.ts'

/** One block or area that somebody wants. */
export type Wish = {
  readonly payer: Payer
  readonly target: Target
  readonly since: number // Unix milliseconds
  readonly signed: Payment[]
  isWaiting: boolean // whether the client waits for a response
  isMistimed: boolean // whether a server's clock was far off meanwhile, so that the wall could not tell how old its purchases were
  isHeldBack: boolean // whether the wall last showed the target as held for others
  end: 'served' | 'refused' | 'unknowable' | undefined // set once the client stops
}

export const createWish = (world: World, payer: Payer, target: Target): Wish => ({
  payer,
  target,
  since: computeTime(world),
  signed: [],
  isWaiting: false,
  isMistimed: false,
  isHeldBack: false,
  end: undefined,
})

// Clients give up earlier than the ten minutes for which the wall remembers an owed receipt.
const TIMEOUT_MS = 8 * 60_000

/** Whether a client continues to send requests. */
export const isAsking = (world: World, { end, since }: Wish): boolean =>
  end === undefined && computeTime(world) - since < TIMEOUT_MS

/**
 * Ends the wish of a client that got a deed without paying: as served if the deed is the client's own, otherwise as
 * refused.
 */
export function endWish(book: Book, wish: Wish): void {
  const isOwn = wish.signed.some((payment) => {
    const row = book.findRow(toPaymentKey(payment))
    return row !== undefined && isSold(row) && resolveTarget(row) === wish.target
  })
  wish.end = isOwn ? 'served' : 'refused'
}

/** Compares every wish with the money that the wall itself moved for it. */
export function checkWishes(world: World, book: Book, wishes: readonly Wish[]): void {
  for (const wish of wishes) {
    if (wish.end === 'unknowable' || wish.isMistimed) continue
    const [paid, ...more] = wish.signed.filter((payment) => isCharged(world, payment))
    const name = wish.signed.map(({ nonce }) => nonce.slice(-4)).join(' ')
    if (more.length > 0) throw new Violation(`one wish is paid for once: payments ${name}`)
    if (paid === undefined || wish.end === 'served' || (wish.end === undefined && !isAsking(world, wish))) continue
    // A client that wants any block gets sold_out when all blocks are sold. A payment that settled late may have bought
    // a block other than the requested one.
    const row = book.findRow(toPaymentKey(paid))
    const isMoved = !isNext(wish.target) && (row === undefined || resolveTarget(row) !== wish.target)
    const isElsewhere = row?.state.kind === 'credited' || isMoved
    const isSoldOut = isNext(wish.target) && wish.end === 'refused'
    // A hold may last longer than the simulation lets clients continue.
    if (!isElsewhere && !isSoldOut && !wish.isHeldBack)
      throw new Violation(`a client that paid and continues to send requests is served: payments ${name}`)
  }
}
