/** The ledger's data about one wallet. */

import type { AreaName } from '../../../shared/area.ts'
import { WALLET_LIMIT_MAX } from '../../../shared/contract/wallet.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import type { Address, Hash, Target, UnixMs } from './payment.ts'
import type { Purchase, Released, Reserved } from './purchase.ts'

/** A block that the wallet bought. */
export type OwnSale = {
  readonly block: BlockIndex
  readonly claimedAt: UnixMs
  readonly tx: Hash
  readonly settled: boolean // this service has seen the transfer on the chain
  readonly painter: Address | null // this address may also repaint the block
  readonly area: AreaName | null // the area it was bought as part of; null for a block bought alone
}

/** An unfinished purchase: held, or released while its payment may still settle. */
export type OpenPurchase = {
  readonly target: Target
  readonly block: BlockIndex // held now, or held last
  readonly since: UnixMs
  readonly state: Omit<Reserved, 'attempt'> | Released
}

/** Counts of unfinished purchases. `oldestSince` is when the oldest held or watched purchase began. */
export type Pending = {
  readonly held: number
  readonly uncertain: number // held, and the payer was asked to wait (a subset of `held`)
  readonly watched: number // released, but the payment may still settle
  readonly oldestSince: UnixMs | null
}

/** A page of a wallet's sales: at most `limit`, starting after sale number `after`. */
export type AccountPage = { readonly after: number; readonly limit: number }

/** A purchase with its number, counted in the order in which purchases began. */
export type NumberedPurchase = { readonly number: number; readonly since: UnixMs; readonly purchase: Purchase }

/** The most entries of each kind in one response. */
export const ACCOUNT_PAGE_MAX = WALLET_LIMIT_MAX

/** The first page of a wallet's sales. Most wallets have no more sales than fit on it. */
export const FIRST_ACCOUNT_PAGE: AccountPage = { after: 0, limit: ACCOUNT_PAGE_MAX }

/**
 * Everything about a wallet, one page of sales at a time. Sales are in the order in which they were made, the other
 * lists in the order in which the purchases began. Every page also has all held purchases, the latest released ones
 * that may still settle, and the latest credits that are not paid back. `open` and `credits` have at most
 * `ACCOUNT_PAGE_MAX` entries each.
 */
export type Account = {
  readonly sales: readonly OwnSale[]
  readonly nextAfter: number // number of the last sale on this page
  readonly hasMore: boolean // whether more sales follow
  readonly open: readonly OpenPurchase[]
  readonly credits: readonly { readonly amount: bigint; readonly tx: Hash }[]
  readonly painter: Address | null // named by the wallet itself, for all of its blocks
}

/**
 * The payout references that mark money as stray: `STRAY_NOTE` if the wall itself booked it, `STRAY_BY_HAND` if the
 * operator did. Any other reference says how the money was paid back.
 */
export const STRAY_NOTE = 'stray'
export const STRAY_BY_HAND = 'stray, as the operator says'

/** Whether a payout reference says that money is stray. */
export const isStray = (reference: string | undefined): boolean =>
  reference === STRAY_NOTE || reference === STRAY_BY_HAND
