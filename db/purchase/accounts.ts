/** What rows of payments say to those who only look. */

import type { Account, AccountPage, OpenPurchase, Pending } from '../../server/domain/purchase/account.ts'
import type { Address, Hash, UnixMs } from '../../server/domain/purchase/payment.ts'
import { areaOf, isBlock, type Target } from '../../server/domain/purchase/target.ts'
import { painterAmong, type WalletPainter } from '../../server/domain/wall/edit.ts'
import { areaName, type AreaName } from '../../shared/area.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { targetIn, type SizeRow } from '../rows.ts'

/** A sale of a wallet's, and whom it named as painter. */
export type SaleRow = SizeRow & {
  readonly id: number
  readonly seq: number
  readonly block: BlockIndex
  readonly corner: BlockIndex // top left of what its payment bought
  readonly claimed_at: UnixMs
  readonly tx: Hash
  readonly settled: 0 | 1
  readonly painter: Address | null
}

/** A purchase of a wallet's without an end. */
export type OpenRow = SizeRow & {
  readonly target: BlockIndex | null
  readonly block: BlockIndex
  readonly created_at: UnixMs
  readonly state: 'reserved' | 'released'
  readonly uncertain: 0 | 1
}

/** A payment of a wallet's that landed when no block was left. */
export type CreditRow = { readonly amount: number; readonly tx: Hash }

/** How many payments are open in one way, and since when. */
export type PendingRow = {
  readonly state: 'reserved' | 'released'
  readonly uncertain: 0 | 1
  readonly count: number
  readonly since: UnixMs
}

/** How much is open. */
export function pendingOf(rows: readonly PendingRow[]): Pending {
  const count = (isIt: (row: PendingRow) => boolean) => rows.filter(isIt).reduce((sum, row) => sum + row.count, 0)
  return {
    held: count(({ state }) => state === 'reserved'),
    uncertain: count(({ uncertain }) => uncertain === 1),
    watched: count(({ state }) => state === 'released'),
    oldestSince: rows.length === 0 ? null : Math.min(...rows.map(({ since }) => since)),
  }
}

/** Rows of a wallet's: of sales one more than the page has, if there are so many. */
export type AccountRows = {
  readonly sales: readonly SaleRow[]
  readonly open: readonly OpenRow[]
  readonly credits: readonly CreditRow[]
  readonly painter: WalletPainter | null // of the wallet itself
}

/** What is to be told of a wallet's purchases. */
export function accountOf({ sales, open, credits, painter: own }: AccountRows, { after, limit }: AccountPage): Account {
  const told = sales.slice(0, limit)
  return {
    sales: told.map(({ id, block, corner, w, h, claimed_at, tx, settled, painter }) => ({
      block,
      area: areaIn(targetIn({ target: corner, w, h }), corner),
      claimedAt: claimed_at,
      tx,
      settled: settled === 1,
      painter: painterAmong(painter === null ? null : { payment: id, painter }, own),
    })),
    nextAfter: told.at(-1)?.seq ?? after,
    hasMore: sales.length > limit,
    open: open.map(openPurchase),
    credits: credits.map(({ amount, tx }) => ({ amount: BigInt(amount), tx })),
    painter: own?.painter ?? null,
  }
}

/** An area that was bought; `null` where it was a block. */
const areaIn = (target: Target, block: BlockIndex): AreaName | null =>
  isBlock(target) ? null : areaName(areaOf({ target, block }))

const openPurchase = ({ target, w, h, block, created_at, state, uncertain }: OpenRow): OpenPurchase => ({
  target: targetIn({ target, w, h }),
  block,
  since: created_at,
  state: state === 'reserved' ? { kind: 'reserved', uncertain: uncertain === 1 } : { kind: 'released', isFinal: false },
})
