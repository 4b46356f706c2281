/** Resolves one open payment by hand: queries its state on the chain now, and acts on it. */

import { isStray, STRAY_BY_HAND } from '../domain/purchase/account.ts'
import type { Address, PaymentKey, Terms } from '../domain/purchase/payment.ts'
import type { Purchase, ChainStatus } from '../domain/purchase/purchase.ts'
import type { Chain, ChainCheckpoint, Clock, Logger, Ledger, Payouts } from '../ports.ts'
import type { Seller } from '../purchase/seller.ts'
import { listPayees } from './find-orphan-payments.ts'

export type ResolveDeps = {
  readonly ledger: Ledger
  readonly chain: Chain
  readonly checkpoint: Pick<ChainCheckpoint, 'readHeight' | 'listPayees'>
  readonly terms: Pick<Terms, 'asset' | 'payTo'>
  readonly seller: Pick<Seller, 'reconcile'>
  readonly payouts: Payouts
  readonly clock: Clock
  readonly logger: Logger
}

/** A purchase before and after it was reconciled, and the status of its payment on the chain. */
export type Resolution = { readonly before: Purchase; readonly after: Purchase; readonly evidence: ChainStatus }

/** Reconciles a purchase; `undefined` for an unknown payment. */
export async function resolvePurchase(
  { ledger, chain, seller }: ResolveDeps,
  key: PaymentKey,
): Promise<Resolution | undefined> {
  const before = await ledger.find(key)
  if (before === undefined) return undefined
  await seller.reconcile(key)
  const after = (await ledger.find(key)) ?? before
  return { before, after, evidence: await chain.readPaymentStatus(after.payment, after.head) }
}

/** Books money without a known purchase as stray. The chain must show that it arrived. */
export async function bookStray(deps: ResolveDeps, key: PaymentKey): Promise<PayoutResult> {
  if ((await deps.ledger.find(key)) !== undefined) return 'not-owed'
  return await bookPayout(deps, key, STRAY_BY_HAND)
}

/** The result of recording a payout. */
export type PayoutResult = 'noted' | 'noted-before' | 'not-owed' | 'never-paid' | 'silent'

/**
 * Records that the operator resolved a credit, or a payment without a known purchase, by hand. The chain must
 * show that the money arrived.
 */
export async function bookPayout(deps: ResolveDeps, key: PaymentKey, reference: string): Promise<PayoutResult> {
  const { ledger, chain, payouts, clock, logger } = deps
  const purchase = await ledger.find(key)
  if (purchase !== undefined && purchase.state.kind !== 'credited') return 'not-owed'
  const isPaid = await (purchase === undefined ? hasArrived(deps, key) : hasPaid(chain, purchase))
  if (isPaid === 'silent') return 'silent'
  if (!isPaid) return 'never-paid'
  if (!(await payouts.recordReference(key, reference, clock.now()))) return 'noted-before'
  logger.note(isStray(reference) ? 'noted-stray' : 'paid-out', { payer: key.payer, nonce: key.nonce })
  return 'noted'
}

/**
 * Whether an authorization without a known purchase paid this wall any amount. A payment with a payout record counts as
 * arrived. Otherwise searches the blocks that the wall has not searched yet, then the whole chain, which some endpoints
 * cannot search.
 */
async function hasArrived(
  { chain, checkpoint, payouts, terms }: ResolveDeps,
  key: PaymentKey,
): Promise<boolean | 'silent'> {
  if ((await payouts.findReference(key)) !== undefined) return true
  const payees = await listPayees({ checkpoint, terms })
  for (const head of [(await checkpoint.readHeight()) ?? 0n, 0n]) {
    const queryStatus = async (to: Address) =>
      await chain.readPaymentStatus({ ...key, to, validBefore: 0n, accepted: terms }, head)
    const kinds = (await Promise.all(payees.map(queryStatus))).map(({ kind }) => kind)
    if (kinds.includes('paid')) return true
    if (!kinds.includes('silent')) return false
  }
  return 'silent'
}

/** Whether the chain still shows the payment of a credit: a reorganisation may have removed it. */
async function hasPaid(chain: Chain, { payment, head }: Purchase): Promise<boolean | 'silent'> {
  const { kind } = await chain.readPaymentStatus(payment, head)
  return kind === 'silent' ? kind : kind === 'paid'
}
