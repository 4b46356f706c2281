/** Resolves one open payment by hand: asks the chain about it now, and acts on the answer. */

import { isStray, STRAY_BY_HAND } from '../domain/purchase/account.ts'
import type { Address, PaymentKey, Terms } from '../domain/purchase/payment.ts'
import type { Purchase, ChainStatus } from '../domain/purchase/purchase.ts'
import type { Chain, ChainCheckpoint, Clock, Logger, Ledger, Payouts } from '../ports.ts'
import type { Seller } from '../purchase/seller.ts'
import { payeesOf } from './find-orphan-payments.ts'

export type ResolveDeps = {
  readonly ledger: Ledger
  readonly chain: Chain
  readonly checkpoint: Pick<ChainCheckpoint, 'height' | 'payees'>
  readonly terms: Pick<Terms, 'asset' | 'payTo'>
  readonly seller: Pick<Seller, 'reconcile'>
  readonly payouts: Payouts
  readonly clock: Clock
  readonly logger: Logger
}

/** A purchase before and after, and what the chain says of its payment. */
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
  return { before, after, evidence: await chain.status(after.payment, after.head) }
}

/** Books money without a known purchase as stray. The chain must show that it came. */
export async function noteStray(deps: ResolveDeps, key: PaymentKey): Promise<PayoutResult> {
  if ((await deps.ledger.find(key)) !== undefined) return 'not-owed'
  return await notePayout(deps, key, STRAY_BY_HAND)
}

/** How noting a payout ends. */
export type PayoutResult = 'noted' | 'noted-before' | 'not-owed' | 'never-paid' | 'silent'

/**
 * Remembers that the operator dealt with money by hand: a credit, or a payment that no purchase is known for. The chain must
 * show that the money came.
 */
export async function notePayout(deps: ResolveDeps, key: PaymentKey, reference: string): Promise<PayoutResult> {
  const { ledger, chain, payouts, clock, logger } = deps
  const purchase = await ledger.find(key)
  if (purchase !== undefined && purchase.state.kind !== 'credited') return 'not-owed'
  const isPaid = await (purchase === undefined ? hasArrived(deps, key) : hasPaid(chain, purchase))
  if (isPaid === 'silent') return 'silent'
  if (!isPaid) return 'never-paid'
  if (!(await payouts.note(key, reference, clock.now()))) return 'noted-before'
  logger.note(isStray(reference) ? 'noted-stray' : 'paid-out', { payer: key.payer, nonce: key.nonce })
  return 'noted'
}

/**
 * Whether an authorization that no purchase is known for paid this wall any amount. Of what the wall has booked as stray it
 * knows that. Else it is looked for where the wall has not looked yet, then on the whole chain, which some endpoints cannot show.
 */
async function hasArrived(
  { chain, checkpoint, payouts, terms }: ResolveDeps,
  key: PaymentKey,
): Promise<boolean | 'silent'> {
  if ((await payouts.noteOf(key)) !== undefined) return true
  const payees = await payeesOf({ checkpoint, terms })
  for (const head of [(await checkpoint.height()) ?? 0n, 0n]) {
    const ask = async (to: Address) => await chain.status({ ...key, to, validBefore: 0n, accepted: terms }, head)
    const kinds = (await Promise.all(payees.map(ask))).map(({ kind }) => kind)
    if (kinds.includes('paid')) return true
    if (!kinds.includes('silent')) return false
  }
  return 'silent'
}

/** Whether the money of a credit is there still: a reorganisation may have taken it back. */
async function hasPaid(chain: Chain, { payment, head }: Purchase): Promise<boolean | 'silent'> {
  const { kind } = await chain.status(payment, head)
  return kind === 'silent' ? kind : kind === 'paid'
}
