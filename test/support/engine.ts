/** The parts of a storage engine that the contract suites need, and the steps that the suites share. */

import { test } from 'bun:test'
import type { Engine as OpenedEngine } from '../../db/engine.ts'
import type { Listing } from '../../server/domain/purchase/listing.ts'
import type { Hash, Payment, Target } from '../../server/domain/purchase/payment.ts'
import type { Purchase, SoldPurchase, UnclaimedPayment } from '../../server/domain/purchase/purchase.ts'
import { parseBlockOrThrow, toHash, HEAD, createTestListing, NOW, createTestPayment } from './samples.ts'

/** Every port of the store, and how to close it. */
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

/** Declares a test that runs with its own store. */
export type EngineTest = TestOver<Engine>

/** Declares a test that runs with its own resource, which is closed after the test. */
export type TestOver<T> = (title: string, work: (opened: T) => Promise<void>, timeoutMs?: number) => void

/** Returns a function that declares tests, each with a new resource from `open`. */
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

/** Returns a function that declares tests, each with a new store. */
export const testOverStore = (open: () => Promise<Engine>): EngineTest => testOver(open, (engine) => engine.close())

// The nonces of purchases that `reserveTarget` treats as in progress, so that a payer's other purchases do not matter.
const BESIDE = Array.from({ length: 64 }, (_, nonce) => toHash(nonce))

/** Claims a target that must be open. */
export async function reserveTarget(
  { ledger }: Pick<Engine, 'ledger'>,
  target: Target,
  payment: Payment,
  listing: Listing = createTestListing(),
  now = NOW,
): Promise<Purchase> {
  const claiming = await ledger.claim(target, payment, listing, HEAD, now, BESIDE)
  if (claiming.kind !== 'claimed') throw new Error(`expected a claim, got ${JSON.stringify(claiming)}`)
  return claiming.purchase
}

/**
 * Sells the block at a coordinate, or the next one, and marks the purchase as answered. The nonce also determines the
 * transaction's hash.
 */
export async function sellBlock(
  engine: Pick<Engine, 'ledger'>,
  target: string,
  payer: number,
  nonce: number,
  listing: Listing = createTestListing(),
  now = NOW,
): Promise<SoldPurchase> {
  const asked = target === 'next' ? target : parseBlockOrThrow(target)
  const held = await reserveTarget(engine, asked, createTestPayment(payer, nonce), listing, now)
  const sold = await engine.ledger.finalize(held, toHash(nonce), true, now)
  await engine.ledger.markAnswered(sold.payment)
  return { ...sold, state: { ...sold.state, unanswered: false } }
}

/** Records a payment for which no block was ever held, and then its settlement. */
export async function recordLatePayment(
  { ledger }: Pick<Engine, 'ledger'>,
  unclaimed: UnclaimedPayment,
  tx: Hash,
): Promise<Purchase> {
  return await ledger.fulfilLatePayment(await ledger.recordUnclaimed(unclaimed, NOW), tx, NOW)
}

/** The stored purchase of a payment, which must exist. */
export async function findStoredPurchase({ ledger }: Pick<Engine, 'ledger'>, payment: Payment): Promise<Purchase> {
  const purchase = await ledger.find(payment)
  if (purchase === undefined) throw new Error('the ledger does not know the payment')
  return purchase
}

/** The error of a rejected promise; `undefined` if it does not reject. */
export async function catchFailure(answer: unknown): Promise<unknown> {
  try {
    await answer
    return undefined
  } catch (error) {
    return error
  }
}
