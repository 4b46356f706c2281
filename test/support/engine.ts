/** What the contract suites need of a storage engine, and the steps they share. */

import { test } from 'bun:test'
import type { Engine as OpenedEngine } from '../../db/engine.ts'
import type { Listing } from '../../server/domain/purchase/listing.ts'
import type { Hash, Payment, Target } from '../../server/domain/purchase/payment.ts'
import type { Purchase, SoldPurchase, UnclaimedPayment } from '../../server/domain/purchase/purchase.ts'
import { blockOf, hash, HEAD, listingOf, NOW, paymentOf } from './samples.ts'

/** Every port of the store, and letting go of it. */
export type Engine = Pick<
  OpenedEngine,
  | 'ledger'
  | 'ledgerReader'
  | 'payouts'
  | 'checkpoint'
  | 'backups'
  | 'deliveries'
  | 'reports'
  | 'blocks'
  | 'agents'
  | 'moderation'
  | 'log'
  | 'compaction'
  | 'store'
> & {
  close(): void | Promise<void>
}

/** Declares a test over a store of its own. */
export type EngineTest = TestOver<Engine>

/** Declares a test over something of its own, which is closed after it. */
export type TestOver<T> = (title: string, work: (opened: T) => Promise<void>, timeoutMs?: number) => void

/** Tests over what `open` opens. */
export const testOver =
  <T>(open: () => Promise<T>, close: (opened: T) => unknown): TestOver<T> =>
  (title, work, timeoutMs) =>
    test(
      title,
      async () => {
        const opened = await open()
        try {
          await work(opened)
        } finally {
          await close(opened)
        }
      },
      timeoutMs,
    )

/** Tests over stores. */
export const testOverStore = (open: () => Promise<Engine>): EngineTest => testOver(open, (engine) => engine.close())

// What else a payer buys in these tests goes on at the same time.
const BESIDE = Array.from({ length: 64 }, (_, nonce) => hash(nonce))

/** Claims what must be open. */
export async function hold(
  { ledger }: Pick<Engine, 'ledger'>,
  target: Target,
  payment: Payment,
  listing: Listing = listingOf(),
  now = NOW,
): Promise<Purchase> {
  const claiming = await ledger.claim(target, payment, listing, HEAD, now, BESIDE)
  if (claiming.kind !== 'claimed') throw new Error(`expected a claim, got ${JSON.stringify(claiming)}`)
  return claiming.purchase
}

/** Sells the block at a coordinate, or the next one, to a payer who hears of it; the nonce also makes the transaction's hash. */
export async function sell(
  engine: Pick<Engine, 'ledger'>,
  target: string,
  payer: number,
  nonce: number,
  listing: Listing = listingOf(),
  now = NOW,
): Promise<SoldPurchase> {
  const asked = target === 'next' ? target : blockOf(target)
  const held = await hold(engine, asked, paymentOf(payer, nonce), listing, now)
  const sold = await engine.ledger.finalize(held, hash(nonce), true, now)
  await engine.ledger.markAnswered(sold.payment)
  return { ...sold, state: { ...sold.state, unanswered: false } }
}

/** Lets a payment land for which nothing was ever held. */
export async function landUnclaimed(
  { ledger }: Pick<Engine, 'ledger'>,
  unclaimed: UnclaimedPayment,
  tx: Hash,
): Promise<Purchase> {
  return await ledger.fulfilLatePayment(await ledger.recordUnclaimed(unclaimed, NOW), tx, NOW)
}

/** What is stored of a payment must be there. */
export async function stored({ ledger }: Pick<Engine, 'ledger'>, payment: Payment): Promise<Purchase> {
  const purchase = await ledger.find(payment)
  if (purchase === undefined) throw new Error('the ledger does not know the payment')
  return purchase
}

/** What an answer fails with; `undefined` when it does not fail. */
export async function failureOf(answer: unknown): Promise<unknown> {
  try {
    await answer
    return undefined
  } catch (error) {
    return error
  }
}
