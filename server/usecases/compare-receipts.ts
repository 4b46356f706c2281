/**
 * Compares what arrived on the chain with the purchases the store knows. Money that belongs to none of them is the sign
 * of a database older than the wall: a backup was restored, and blocks sold since would be sold again.
 */

import type { Address, Terms } from '../domain/payment.ts'
import type { Chain, Horizon, Transfer } from '../ports.ts'

/** What a comparison needs. */
export type Comparing = { readonly chain: Chain; readonly horizon: Horizon; readonly terms: Terms }

/** What it found: sales that no purchase is known for, and the height up to which all was looked at. */
export type Comparison = { readonly orphans: readonly Orphan[]; readonly through: bigint }

/** A block's price that was paid by an authorization nobody here remembers. */
export type Orphan = Transfer & { readonly nonce: NonNullable<Transfer['nonce']> }

/** Looks at everything that arrived since the newest height the store knows. */
export async function compareReceipts({ chain, horizon, terms }: Comparing): Promise<Comparison | 'silent'> {
  const orphans: Orphan[] = []
  const seen = (await horizon.height()) ?? (await heightNow(chain, terms.payTo))
  if (seen === 'silent') return 'silent'
  for (let next = seen + 1n; ;) {
    const receipts = await chain.transfersTo(terms.payTo, next)
    if (receipts === 'silent') return 'silent'
    for (const transfer of receipts.transfers)
      if (isSale(transfer, terms) && !(await horizon.knows(transfer))) orphans.push(transfer)
    if (receipts.isAll) return { orphans, through: receipts.next - 1n }
    next = receipts.next
  }
}

// Anyone can send an address other amounts, or send without an authorization; a block is never sold for that.
const isSale = (transfer: Transfer, { amount }: Terms): transfer is Orphan =>
  transfer.nonce !== null && transfer.amount === amount

const NO_NONCE = `0x${'0'.repeat(64)}` as const

/** The chain's height. */
export async function heightNow(chain: Chain, payTo: Address): Promise<bigint | 'silent'> {
  const seen = await chain.read({ payer: payTo, nonce: NO_NONCE })
  return seen === 'silent' ? seen : seen.head
}
