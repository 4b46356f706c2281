/** The ledger for those who only look: what is held now, and what one wallet has bought or is buying. */

import type { Account, OpenPurchase, Pending } from '../../server/domain/account.ts'
import { StoreUnavailable } from '../../server/domain/failure.ts'
import type { Address, Hash, UnixMs } from '../../server/domain/payment.ts'
import type { Books } from '../../server/ports.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import type { Connection } from './connection.ts'
import { isDamaged } from './sums.ts'

type SaleRow = {
  readonly block: BlockIndex
  readonly claimed_at: UnixMs
  readonly tx: Hash
  readonly settled: 0 | 1
}

type OpenRow = {
  readonly target: BlockIndex | null
  readonly block: BlockIndex
  readonly created_at: UnixMs
  readonly state: 'reserved' | 'released'
  readonly doubted: 0 | 1
}

type PendingRow = {
  readonly state: 'reserved' | 'released'
  readonly doubted: 0 | 1
  readonly count: number
  readonly since: UnixMs
}

/** The books on one connection. */
export function sqliteBooks(connection: Connection): Books {
  const sql = statements(connection)
  return {
    pending: async () => connection.read(() => pendingOf(sql.pending.all({}))),
    held: async () => connection.read(() => sql.held.all({}).map(({ block }) => block)),
    ofPayer: async (payer) => connection.read(() => accountOf(sql, payer)),
  }
}

type Sql = ReturnType<typeof statements>

function statements(connection: Connection) {
  return {
    damaged: connection.prepare<unknown, { payer: Address }>(
      `SELECT 1 FROM payments WHERE ${isDamaged('payments', 'id')} AND payer = $payer LIMIT 1`,
    ),
    held: connection.prepare<{ block: BlockIndex }>(
      `SELECT block FROM payments INDEXED BY unfinished WHERE state = 'reserved' ORDER BY block`,
    ),
    // The condition is the index's, word for word, with a narrower one added.
    pending: connection.prepare<PendingRow>(`
      SELECT state, doubted, count(*) AS count, min(created_at) AS since FROM payments INDEXED BY unfinished
      WHERE (state = 'reserved' OR (state = 'released' AND dead = 0) OR (state = 'sold' AND looks < 2)) AND state <> 'sold'
      GROUP BY state, doubted`),
    sales: connection.prepare<SaleRow, { payer: Address }>(
      `SELECT block, claimed_at, tx, settled FROM payments WHERE payer = $payer AND state = 'sold' ORDER BY seq`,
    ),
    open: connection.prepare<OpenRow, { payer: Address }>(`
      SELECT target, block, created_at, state, doubted FROM payments
      WHERE payer = $payer AND (state = 'reserved' OR (state = 'released' AND dead = 0)) ORDER BY id`),
    credits: connection.prepare<{ amount: number; tx: Hash }, { payer: Address }>(
      `SELECT amount, tx FROM payments WHERE payer = $payer AND state = 'credited' ORDER BY id`,
    ),
  }
}

function pendingOf(rows: readonly PendingRow[]): Pending {
  const count = (isIt: (row: PendingRow) => boolean) => rows.filter(isIt).reduce((sum, row) => sum + row.count, 0)
  return {
    held: count(({ state }) => state === 'reserved'),
    doubted: count(({ doubted }) => doubted === 1),
    watched: count(({ state }) => state === 'released'),
    oldestSince: rows.length === 0 ? null : Math.min(...rows.map(({ since }) => since)),
  }
}

function accountOf(sql: Sql, payer: Address): Account {
  if (sql.damaged.get({ payer }) !== null) throw new StoreUnavailable('a payment of this wallet is damaged')
  return {
    sales: sql.sales.all({ payer }).map(({ block, claimed_at, tx, settled }) => ({
      block,
      claimedAt: claimed_at,
      tx,
      settled: settled === 1,
    })),
    open: sql.open.all({ payer }).map(openPurchase),
    credits: sql.credits.all({ payer }).map(({ amount, tx }) => ({ amount: BigInt(amount), tx })),
  }
}

const openPurchase = ({ target, block, created_at, state, doubted }: OpenRow): OpenPurchase => ({
  target: target ?? 'next',
  block,
  since: created_at,
  state: state === 'reserved' ? { kind: 'reserved', doubted: doubted === 1 } : { kind: 'released', dead: false },
})
