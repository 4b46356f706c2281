/** What the ledger holds of one wallet. */

import type { AreaName } from '../../../shared/area.ts'
import { WALLET_LIMIT_MAX } from '../../../shared/contract/wallet.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import type { Address, Hash, Target, UnixMs } from './payment.ts'
import type { Purchase, Released, Reserved } from './purchase.ts'

/** A purchase that is final. */
export type OwnSale = {
  readonly block: BlockIndex
  readonly claimedAt: UnixMs
  readonly tx: Hash
  readonly settled: boolean // our own look at the chain has seen the transfer
  readonly painter: Address | null // who may repaint it beside the wallet
  readonly area: AreaName | null // that it was bought with; null for a block bought by itself
}

/** A purchase without an end yet. */
export type OpenPurchase = {
  readonly target: Target
  readonly block: BlockIndex // held, or was held last
  readonly since: UnixMs
  readonly state: Omit<Reserved, 'attempt'> | Released
}

/** What has no end yet, in numbers. `oldestSince` is of what is held or watched. */
export type Pending = {
  readonly held: number
  readonly uncertain: number // held, and the payer was told to wait
  readonly watched: number // given back, and the payment may still land
  readonly oldestSince: UnixMs | null
}

/** At most `limit` sales of a wallet, after the one with number `after`. */
export type AccountPage = { readonly after: number; readonly limit: number }

/** A purchase, with its number in the order they were begun. */
export type NumberedPurchase = { readonly number: number; readonly since: UnixMs; readonly purchase: Purchase }

/** How much of each kind is told at once. */
export const ACCOUNT_PAGE_MAX = WALLET_LIMIT_MAX

/** The first page, which is all there is of most wallets. */
export const FIRST_ACCOUNT_PAGE: AccountPage = { after: 0, limit: ACCOUNT_PAGE_MAX }

/**
 * Each list in the order the purchases were begun; sales in the order they were made, one page of them. Of what is open and
 * of credits every page tells the latest `ACCOUNT_PAGE_MAX`, and nothing that is held is left out.
 */
export type Account = {
  readonly sales: readonly OwnSale[]
  readonly nextAfter: number // number of the last sale that is told
  readonly hasMore: boolean // whether there are sales after it
  readonly open: readonly OpenPurchase[]
  readonly credits: readonly { readonly amount: bigint; readonly tx: Hash }[]
  readonly painter: Address | null // whom the wallet itself has named, for all of its blocks
}

/** The note that books money as stray, where others say how the operator paid it back. */
export const STRAY_NOTE = 'stray'

/** Whether an amount may have been for blocks, at one of the prices that are or were asked. */
export const mayBuyBlocks = (amount: bigint, prices: readonly bigint[]): boolean =>
  amount > 0n && prices.some((price) => amount % price === 0n)
