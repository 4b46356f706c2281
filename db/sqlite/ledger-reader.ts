/** The ledger for those who only look: what is held now, and what one wallet has bought or is buying. */

import { StoreUnavailable } from '../../server/domain/failure.ts'
import {
  ACCOUNT_PAGE_MAX,
  FIRST_ACCOUNT_PAGE,
  type Account,
  type AccountPage,
} from '../../server/domain/purchase/account.ts'
import type { Address } from '../../server/domain/purchase/payment.ts'
import type { LedgerReader } from '../../server/ports.ts'
import { AREA_BLOCKS_MAX } from '../../shared/area.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { accountOf, pendingOf, type CreditRow, type OpenRow, type PendingRow, type SaleRow } from '../accounts.ts'
import { IS_UNFINISHED } from '../rows.ts'
import type { Connection } from './connection.ts'
import { isDamaged } from './row-checksums.ts'
import { ofWallet } from './wall/painters.ts'

/** The books on one connection. */
export function sqliteLedgerReader(connection: Connection): LedgerReader {
  const sql = statements(connection)
  return {
    pending: async () => connection.read(() => pendingOf(sql.pending.all({}))),
    held: async () => connection.read(() => sql.held.all({}).map(({ block }) => block)),
    ofPayer: async (payer, page = FIRST_ACCOUNT_PAGE) => connection.read(() => accountFor(sql, payer, page)),
  }
}

type Sql = ReturnType<typeof statements>

function statements(connection: Connection) {
  return {
    // The plus keeps it from reading all that the payer ever bought: few rows are damaged, if any.
    damaged: connection.prepare<unknown, { payer: Address }>(
      `SELECT 1 FROM payments WHERE ${isDamaged('payments', 'id')} AND +payer = $payer LIMIT 1`,
    ),
    held: connection.prepare<{ block: BlockIndex }>(
      `SELECT i AS block FROM blocks INDEXED BY held_blocks WHERE state = 'reserved' ORDER BY i`,
    ),
    pending: connection.prepare<PendingRow>(`
      SELECT state, uncertain, count(*) AS count, min(created_at) AS since FROM payments INDEXED BY unfinished
      WHERE ${IS_UNFINISHED} AND state <> 'sold'
      GROUP BY state, uncertain`),
    sales: connection.prepare<SaleRow, Page>(`
      SELECT p.id, sales.seq, sales.block, p.corner, p.size, p.claimed_at, p.tx, p.settled, named.painter FROM (
        SELECT id, block AS corner, size, claimed_at, tx, settled FROM payments INDEXED BY sales_of_payer
        WHERE payer = $payer AND state = 'sold' AND seq > $after - ${AREA_BLOCKS_MAX}
        ORDER BY seq LIMIT $limit + ${AREA_BLOCKS_MAX}) AS p
      JOIN sales ON sales.payment = p.id LEFT JOIN purchase_painters AS named ON named.payment = p.id
      WHERE sales.seq > $after ORDER BY sales.seq LIMIT $limit`),
    agent: connection.prepare<{ id: number }, { payer: Address }>('SELECT id FROM agents WHERE wallet = $payer'),
    connection,
    open: connection.prepare<OpenRow, { payer: Address }>(`
      SELECT target, size, block, created_at, state, uncertain FROM (
        SELECT id, target, size, block, created_at, state, uncertain FROM payments INDEXED BY unfinished
        WHERE ${IS_UNFINISHED}
          AND state IN ('reserved', 'released') AND payer = $payer
        ORDER BY state = 'reserved' DESC, id DESC LIMIT ${ACCOUNT_PAGE_MAX})
      ORDER BY id`),
    credits: connection.prepare<CreditRow, { payer: Address }>(`
      SELECT amount, tx FROM (
        SELECT id, amount, tx FROM payments INDEXED BY credits_of_payer
        WHERE payer = $payer AND state = 'credited' ORDER BY id DESC LIMIT ${ACCOUNT_PAGE_MAX})
      ORDER BY id`),
  }
}

type Page = AccountPage & { readonly payer: Address }

function accountFor(sql: Sql, payer: Address, page: AccountPage): Account {
  if (sql.damaged.get({ payer }) !== null) throw new StoreUnavailable('a payment of this wallet is damaged')
  const { after, limit } = page
  const sales = sql.sales.all({ payer, after, limit: limit + 1 })
  for (const { id, painter } of sales) if (painter !== null) sql.connection.check('purchase_painters', id)
  const agent = sql.agent.get({ payer })
  const painter = agent === null ? null : ofWallet(sql.connection, agent.id)
  return accountOf({ sales, open: sql.open.all({ payer }), credits: sql.credits.all({ payer }), painter }, page)
}
