/** What the ledger holds of one wallet. */

import type { BlockIndex } from '../../shared/wall.ts'
import type { Hash, Target, UnixMs } from './payment.ts'
import type { Released, Reserved } from './purchase.ts'

/** A purchase that is final. */
export type OwnSale = {
  readonly block: BlockIndex
  readonly claimedAt: UnixMs
  readonly tx: Hash
  readonly settled: boolean // our own look at the chain has seen the transfer
}

/** A purchase without an end yet. */
export type OpenPurchase = {
  readonly target: Target
  readonly block: BlockIndex // held, or was held last
  readonly since: UnixMs
  readonly state: Omit<Reserved, 'attempt'> | Released
}

/** A payment that landed when no block was left for it. */
export type OwnCredit = { readonly amount: bigint; readonly tx: Hash }

/** What has no end yet, in numbers. `oldestSince` is of what is held or watched. */
export type Pending = {
  readonly held: number
  readonly uncertain: number // held, and the payer was told to wait
  readonly watched: number // given back, and the payment may still land
  readonly oldestSince: UnixMs | null
}

/** Each list in the order the purchases were begun; sales in the order they were made. */
export type Account = {
  readonly sales: readonly OwnSale[]
  readonly open: readonly OpenPurchase[]
  readonly credits: readonly OwnCredit[]
}
