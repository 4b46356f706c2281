/** Read access to the ledger: held blocks, sales, money owed, and the purchases of one wallet. */

import { StoreUnavailable } from '../../server/domain/failure.ts'
import {
  type Account,
  ACCOUNT_PAGE_MAX,
  type AccountPage,
  FIRST_ACCOUNT_PAGE,
  type NumberedPurchase,
  type OpenPurchase,
  type Pending,
} from '../../server/domain/purchase/account.ts'
import type { OwedPayment, SoldPayment } from '../../server/domain/purchase/deeds.ts'
import type { Address, Hash, PaymentKey, UnixMs } from '../../server/domain/purchase/payment.ts'
import { getArea, isBlock, type Target } from '../../server/domain/purchase/target.ts'
import { choosePainter } from '../../server/domain/wall/edit.ts'
import type { LedgerReader } from '../../server/ports.ts'
import { formatArea, type AreaName } from '../../shared/area.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import {
  IS_UNFINISHED,
  PAID_OUT,
  PURCHASE_SOURCES,
  toPurchase,
  type PurchaseRow,
  SELECT_PURCHASE,
  type SizeRow,
  toTarget,
} from '../rows.ts'
import { type Driver, queryFirst, toSqliteText, queryRows, runTogether, type Tx } from '../tx.ts'
import { findAgent } from '../wall/agents.ts'
import { readPainterOfWallet } from '../wall/painters.ts'

/** Read access to the ledger of a store. */
export const createLedgerReader = ({ query, read }: Driver): LedgerReader => ({
  countPending: async () => summarisePending(await query(() => queryRows<PendingRow>(PENDING))),
  listHeld: async () => (await query(() => queryRows<{ block: BlockIndex }>(HELD))).map(({ block }) => block),
  readAccount: (payer, page = FIRST_ACCOUNT_PAGE) => read(() => readAccount(payer, page)),
  listPurchases: (payer, before, limit) => read(() => listPurchases(payer, before, limit)),
  listSold: (after, limit) => query(() => listSold(after, limit)),
  listOwed: (after, limit) => query(() => listOwed(after, limit)),
})

const HELD = `SELECT i AS block FROM blocks {index held_blocks} WHERE state = 'reserved' ORDER BY i`
const PENDING = `
  SELECT state, uncertain, count(*) AS count, min(created_at) AS since FROM payments {index unfinished}
  WHERE ${IS_UNFINISHED} AND state IN ('reserved', 'released')
  GROUP BY state, uncertain`

// The plus disables the index on `payer`, because reading the few damaged rows is cheaper than reading all of the
// payer's purchases.
const DAMAGED = toSqliteText('SELECT 1 FROM payments WHERE {damaged payments id} AND +payer = $payer LIMIT 1')
// The page may begin inside an area, so the query also reads the last purchase sold before the page.
const SALES = `
  SELECT p.id, sales.seq, sales.block, p.corner, p.w, p.h, p.claimed_at, p.tx, p.settled, named.payment AS painter_of,
    named.painter
  FROM (
    SELECT id, block AS corner, w, h, claimed_at, tx, settled FROM payments {index sales_of_payer}
    WHERE payer = $payer AND state = 'sold' AND seq >= coalesce(
      (SELECT max(seq) FROM payments {index sales_of_payer} WHERE payer = $payer AND state = 'sold' AND seq <= $after), 0)
    ORDER BY seq LIMIT $limit + 1) AS p
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
    SELECT id, amount, tx FROM payments AS p {index credits_of_payer}
    WHERE payer = $payer AND state = 'credited' AND NOT EXISTS (SELECT 1 FROM payouts AS o WHERE ${PAID_OUT})
    ORDER BY id DESC LIMIT ${ACCOUNT_PAGE_MAX}) AS latest
  ORDER BY id`

// On an engine whose indexes contain the row number, the inner SELECT reads only an index.
const PURCHASES = `
  ${SELECT_PURCHASE} WHERE p.id IN (
    SELECT id FROM payments WHERE payer = $payer AND id < $before ORDER BY id DESC LIMIT $limit)
  ORDER BY p.id DESC`

function* listPurchases(payer: Address, before: number, limit: number): Tx<readonly NumberedPurchase[]> {
  const values = { payer, before, limit }
  const [damaged, found] = yield* runTogether(
    queryFirst(DAMAGED, values),
    queryRows<PurchaseRow & { readonly created_at: UnixMs }>(PURCHASES, values, PURCHASE_SOURCES),
  )
  if (damaged !== undefined) throw createDamageError()
  return found.map((row) => ({ number: row.id, since: row.created_at, purchase: toPurchase(row) }))
}

const createDamageError = () => new StoreUnavailable('a payment of this wallet is damaged')

function* readAccount(payer: Address, page: AccountPage): Tx<Account> {
  // Reads one more sale than the page shows; if that sale exists, there is another page.
  const values = { payer, after: page.after, limit: page.limit + 1 }
  const [damaged, sales, open, credits, agent] = yield* runTogether(
    queryFirst(DAMAGED, values),
    queryRows<SaleRow>(SALES, values, { purchase_painters: 'painter_of' }),
    queryRows<OpenRow>(OPEN, values),
    queryRows<CreditRow>(CREDITS, values),
    findAgent(payer),
  )
  if (damaged !== undefined) throw createDamageError()
  const own = (agent && (yield* readPainterOfWallet(agent.id))) ?? null
  const listed = sales.slice(0, page.limit)
  return {
    sales: listed.map(({ id, block, corner, w, h, claimed_at, tx, settled, painter }) => ({
      block,
      area: formatAreaName(toTarget({ target: corner, w, h }), corner),
      claimedAt: claimed_at,
      tx,
      settled: settled === 1,
      painter: choosePainter(painter === null ? null : { payment: id, painter }, own),
    })),
    nextAfter: listed.at(-1)?.seq ?? page.after,
    hasMore: sales.length > page.limit,
    open: open.map(toOpenPurchase),
    credits: credits.map(({ amount, tx }) => ({ amount: BigInt(amount), tx })),
    painter: own?.painter ?? null,
  }
}

/** A sale to a wallet, and the painter of that purchase. */
type SaleRow = SizeRow & {
  readonly id: number
  readonly seq: number
  readonly block: BlockIndex
  readonly corner: BlockIndex // top left block of the purchase
  readonly claimed_at: UnixMs
  readonly tx: Hash
  readonly settled: 0 | 1
  readonly painter: Address | null
}

/** An unfinished purchase of a wallet. */
type OpenRow = SizeRow & {
  readonly target: BlockIndex | null
  readonly block: BlockIndex
  readonly created_at: UnixMs
  readonly state: 'reserved' | 'released'
  readonly uncertain: 0 | 1
}

/** A wallet's payment that settled when no block was left. */
type CreditRow = { readonly amount: number; readonly tx: Hash }

/** The number of unfinished payments in one state, and when the oldest of them was created. */
type PendingRow = {
  readonly state: 'reserved' | 'released'
  readonly uncertain: 0 | 1
  readonly count: number
  readonly since: UnixMs
}

function summarisePending(rows: readonly PendingRow[]): Pending {
  const sumCounts = (isIt: (row: PendingRow) => boolean) => rows.filter(isIt).reduce((sum, row) => sum + row.count, 0)
  return {
    held: sumCounts(({ state }) => state === 'reserved'),
    uncertain: sumCounts(({ uncertain }) => uncertain === 1),
    watched: sumCounts(({ state }) => state === 'released'),
    oldestSince: rows.length === 0 ? null : Math.min(...rows.map(({ since }) => since)),
  }
}

/** The name of a bought area; `null` for a single block. */
const formatAreaName = (target: Target, block: BlockIndex): AreaName | null =>
  isBlock(target) ? null : formatArea(getArea({ target, block }))

const toOpenPurchase = ({ target, w, h, block, created_at, state, uncertain }: OpenRow): OpenPurchase => ({
  target: toTarget({ target, w, h }),
  block,
  since: created_at,
  state: state === 'reserved' ? { kind: 'reserved', uncertain: uncertain === 1 } : { kind: 'released', isFinal: false },
})

const SOLD = `
  SELECT id, seq, payer, nonce, pay_to, amount, target, block, w, h, tx, claimed_at, settled,
    CASE WHEN pixels IS NULL THEN 0 ELSE 1 END AS painted, order_text, salt
  FROM payments WHERE seq > $after ORDER BY seq LIMIT $limit`

type SoldRow = SizeRow & {
  readonly seq: number
  readonly payer: Address
  readonly nonce: Hash
  readonly pay_to: Address
  readonly amount: number
  readonly target: BlockIndex | null
  readonly block: BlockIndex
  readonly tx: Hash
  readonly claimed_at: UnixMs
  readonly settled: 0 | 1
  readonly painted: 0 | 1
  readonly order_text: string | null
  readonly salt: Hash | null
}

function* listSold(after: number, limit: number): Tx<readonly SoldPayment[]> {
  const found = yield* queryRows<SoldRow>(SOLD, { after, limit }, { payments: 'id' })
  return found.map((row) => ({
    payer: row.payer,
    nonce: row.nonce,
    target: toTarget(row),
    block: row.block,
    seq: row.seq,
    amount: BigInt(row.amount),
    payTo: row.pay_to,
    tx: row.tx,
    claimedAt: row.claimed_at,
    settled: row.settled === 1,
    isPainted: row.painted === 1,
    order: row.order_text === null || row.salt === null ? null : { text: row.order_text, salt: row.salt },
  }))
}

// Credits first, in the order of their payments; then other recorded payments, in the order of their records.
const OWED = `
  SELECT id, payer, nonce, amount, tx, reference FROM (
    SELECT p.id, p.payer, p.nonce, p.amount, p.tx, o.reference, 0 AS at
    FROM payments AS p {index credits_of_payer} LEFT JOIN payouts AS o ON ${PAID_OUT}
    WHERE p.state = 'credited'
    UNION ALL
    SELECT NULL, o.payer, o.nonce, NULL, NULL, o.reference, o.at FROM payouts AS o
    WHERE NOT EXISTS (
      SELECT 1 FROM payments AS p WHERE p.payer = o.payer AND p.nonce = o.nonce AND p.state IN ('sold', 'credited'))
  ) AS owed
  ORDER BY at, id, payer, nonce LIMIT $limit OFFSET $after`

type OwedRow = PaymentKey & {
  readonly amount: number | null
  readonly tx: Hash | null
  readonly reference: string | null
}

function* listOwed(after: number, limit: number): Tx<readonly OwedPayment[]> {
  const found = yield* queryRows<OwedRow>(OWED, { after, limit }, { payments: 'id' })
  return found.map(({ payer, nonce, amount, tx, reference }) => ({
    payer,
    nonce,
    tx,
    amount: amount === null ? null : BigInt(amount),
    reference,
  }))
}
