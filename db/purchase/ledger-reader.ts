/** The ledger for those who only look: what is held now, and what one wallet has bought or is buying. */

import { StoreUnavailable } from '../../server/domain/failure.ts'
import {
  ACCOUNT_PAGE_MAX,
  FIRST_ACCOUNT_PAGE,
  type Account,
  type AccountPage,
  type NumberedPurchase,
} from '../../server/domain/purchase/account.ts'
import type { Address, UnixMs } from '../../server/domain/purchase/payment.ts'
import type { LedgerReader } from '../../server/ports.ts'
import { AREA_BLOCKS_MAX } from '../../shared/area.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { IS_UNFINISHED, PURCHASE_SOURCES, purchaseOf, SELECT_PURCHASE, type PurchaseRow } from '../rows.ts'
import { first, onSqlite, rows, together, type Driver, type Tx } from '../tx.ts'
import { findAgent } from '../wall/agents.ts'
import { painterOfWallet } from '../wall/painters.ts'
import { accountOf, pendingOf, type CreditRow, type OpenRow, type PendingRow, type SaleRow } from './accounts.ts'

/** Read access to the ledger of a store. */
export const ledgerReader = ({ look, read }: Driver): LedgerReader => ({
  pending: async () => pendingOf(await look(() => rows<PendingRow>(PENDING))),
  held: async () => (await look(() => rows<{ block: BlockIndex }>(HELD))).map(({ block }) => block),
  ofPayer: (payer, page = FIRST_ACCOUNT_PAGE) => read(() => account(payer, page)),
  purchases: (payer, before, limit) => read(() => purchases(payer, before, limit)),
})

const HELD = `SELECT i AS block FROM blocks {index held_blocks} WHERE state = 'reserved' ORDER BY i`
const PENDING = `
  SELECT state, uncertain, count(*) AS count, min(created_at) AS since FROM payments {index unfinished}
  WHERE ${IS_UNFINISHED} AND state IN ('reserved', 'released')
  GROUP BY state, uncertain`

// The plus keeps it from reading all that the payer ever bought: few rows are damaged, if any.
const DAMAGED = onSqlite('SELECT 1 FROM payments WHERE {damaged payments id} AND +payer = $payer LIMIT 1')
const SALES = `
  SELECT p.id, sales.seq, sales.block, p.corner, p.w, p.h, p.claimed_at, p.tx, p.settled, named.payment AS painter_of,
    named.painter
  FROM (
    SELECT id, block AS corner, w, h, claimed_at, tx, settled FROM payments {index sales_of_payer}
    WHERE payer = $payer AND state = 'sold' AND seq > $after - ${AREA_BLOCKS_MAX}
    ORDER BY seq LIMIT $limit + ${AREA_BLOCKS_MAX}) AS p
  JOIN sales ON sales.payment = p.id LEFT JOIN purchase_painters AS named ON named.payment = p.id
  WHERE sales.seq > $after ORDER BY sales.seq LIMIT $limit`
const OPEN = `
  SELECT target, w, h, block, created_at, state, uncertain FROM (
    SELECT id, target, w, h, block, created_at, state, uncertain FROM payments {index unfinished}
    WHERE ${IS_UNFINISHED} AND state IN ('reserved', 'released') AND payer = $payer
    ORDER BY state = 'reserved' DESC, id DESC LIMIT ${ACCOUNT_PAGE_MAX}) AS latest
  ORDER BY id`
const CREDITS = `
  SELECT amount, tx FROM (
    SELECT id, amount, tx FROM payments {index credits_of_payer}
    WHERE payer = $payer AND state = 'credited' ORDER BY id DESC LIMIT ${ACCOUNT_PAGE_MAX}) AS latest
  ORDER BY id`

// The inner select reads an index alone, where the engine's indexes name the row.
const PURCHASES = `
  ${SELECT_PURCHASE} WHERE p.id IN (
    SELECT id FROM payments WHERE payer = $payer AND id < $before ORDER BY id DESC LIMIT $limit)
  ORDER BY p.id DESC`

function* purchases(payer: Address, before: number, limit: number): Tx<readonly NumberedPurchase[]> {
  const values = { payer, before, limit }
  const [damaged, found] = yield* together(
    first(DAMAGED, values),
    rows<PurchaseRow & { readonly created_at: UnixMs }>(PURCHASES, values, PURCHASE_SOURCES),
  )
  if (damaged !== undefined) throw damagedPayment()
  return found.map((row) => ({ number: row.id, since: row.created_at, purchase: purchaseOf(row) }))
}

const damagedPayment = () => new StoreUnavailable('a payment of this wallet is damaged')

function* account(payer: Address, page: AccountPage): Tx<Account> {
  const values = { payer, after: page.after, limit: page.limit + 1 }
  const [damaged, sales, open, credits, agent] = yield* together(
    first(DAMAGED, values),
    rows<SaleRow>(SALES, values, { purchase_painters: 'painter_of' }),
    rows<OpenRow>(OPEN, values),
    rows<CreditRow>(CREDITS, values),
    findAgent(payer),
  )
  if (damaged !== undefined) throw damagedPayment()
  const painter = agent === undefined ? undefined : yield* painterOfWallet(agent.id)
  return accountOf({ sales, open, credits, painter: painter ?? null }, page)
}
