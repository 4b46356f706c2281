/**
 * Finds money on the chain that belongs to no purchase in the store. Either somebody sent it without an order, or the
 * database is a restored older copy. Such a copy would resell the blocks that were sold after it was made.
 */

import { canBuyBlocks } from '../../shared/chain/arrivals.ts'
import { VALIDITY_MAX_SECONDS, type Address, type Terms, type UnixMs } from '../domain/purchase/payment.ts'
import type { UnclaimedPayment } from '../domain/purchase/purchase.ts'
import type { StorePosition } from '../domain/store-position.ts'
import type { Chain, ChainCheckpoint, Receipts, Transfer } from '../ports.ts'

export type FindOrphanDeps = {
  readonly chain: Pick<Chain, 'readAuthorization' | 'readTransfers'>
  readonly checkpoint: ChainCheckpoint
  readonly terms: Terms
}

/** A payment of whole cents to `payTo`, by an authorization that the store does not know. */
export type OrphanPayment = Transfer & { readonly nonce: NonNullable<Transfer['nonce']>; readonly payTo: Address }

/** The orphan payments in one range of heights. */
export type OrphanWindow = {
  readonly orphans: readonly OrphanPayment[]
  readonly next: bigint // the first height that was not read
  readonly isAll: boolean // whether the newest block was read
}

/**
 * The first height to read: the one after the store's checkpoint, or after the newest block if there is no checkpoint.
 */
export async function findNextHeight({ chain, checkpoint, terms }: FindOrphanDeps): Promise<bigint | 'silent'> {
  const seen = (await checkpoint.readHeight()) ?? (await readNewestHeight(chain, terms.payTo))
  return seen === 'silent' ? seen : seen + 1n
}

/**
 * Every address at which this wall is paid, was paid, or has asked to be paid, according to settings, store and
 * witness.
 */
export const listPayees = async (
  {
    checkpoint,
    terms,
  }: { readonly checkpoint: Pick<ChainCheckpoint, 'listPayees'>; readonly terms: Pick<Terms, 'payTo'> },
  witnessed?: StorePosition,
  others: readonly Address[] = [],
): Promise<readonly Address[]> => [
  ...new Set([...(witnessed?.payees ?? []), ...(await checkpoint.listPayees()), terms.payTo, ...others]),
]

/** Reads the next range of the chain, from height `from` on, for all `payees`. */
export async function findOrphans(
  deps: FindOrphanDeps,
  payees: readonly Address[],
  from: bigint,
): Promise<OrphanWindow | 'silent'> {
  const { chain, checkpoint } = deps
  const windows: Receipts[] = []
  const arrivals: (Transfer & { readonly payTo: Address })[] = []
  for (const payTo of payees) {
    const window = await chain.readTransfers(payTo, from)
    if (window === 'silent') return 'silent'
    windows.push(window)
    arrivals.push(...window.transfers.map((transfer) => ({ ...transfer, payTo })))
  }
  // The heights that one of the queries did not reach are read again with the next range.
  const next = windows.map((window) => window.next).reduce((one, other) => (other < one ? other : one))
  const orphans: OrphanPayment[] = []
  for (const { nonce, ...arrival } of arrivals) {
    // A block is never sold for a transfer without an authorization.
    if (arrival.height >= next || nonce === null || !canBuyBlocks(arrival.amount)) continue
    const orphan = { ...arrival, nonce }
    if (!(await checkpoint.isKnown(orphan))) orphans.push(orphan)
  }
  return { orphans, next, isAll: windows.every(({ isAll }) => isAll) }
}

/**
 * A payment without a known purchase, as far as the chain shows it: its sender and amount. An authorization for this
 * wall is valid for `VALIDITY_MAX_SECONDS` at most, so it expires at most that long after `now`.
 */
export const toUnclaimedPayment = (
  { payer, nonce, payTo, amount, height }: OrphanPayment,
  terms: Terms,
  now: UnixMs,
): UnclaimedPayment => ({
  payment: {
    payer,
    nonce,
    to: payTo,
    amount,
    validAfter: 0n,
    validBefore: BigInt(Math.floor(now / 1000)) + VALIDITY_MAX_SECONDS,
    signature: '0x',
    accepted: { ...terms, payTo, amount, scheme: 'exact' },
  },
  target: 'next',
  listing: { name: null, framework: null, message: null, link: null, pixels: null, painter: null },
  head: height,
})

const NO_NONCE = `0x${'0'.repeat(64)}` as const

async function readNewestHeight(chain: Pick<Chain, 'readAuthorization'>, payTo: Address): Promise<bigint | 'silent'> {
  const seen = await chain.readAuthorization({ payer: payTo, nonce: NO_NONCE })
  return seen === 'silent' ? seen : seen.head
}
