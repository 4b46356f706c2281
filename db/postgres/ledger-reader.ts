/** The ledger for those who only look: what is held now, and what one wallet has bought or is buying. */

import { ACCOUNT_PAGE_MAX, FIRST_ACCOUNT_PAGE } from '../../server/domain/purchase/account.ts'
import type { LedgerReader } from '../../server/ports.ts'
import { AREA_BLOCKS_MAX } from '../../shared/area.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { accountOf, pendingOf, type CreditRow, type OpenRow, type PendingRow, type SaleRow } from '../accounts.ts'
import { IS_UNFINISHED } from '../rows.ts'
import type { Connection } from './connection.ts'
import { ofWallet } from './wall/painters.ts'
import type { Check } from './writes.ts'

/** The books of a database. */
export function postgresLedgerReader({ rows, snapshot }: Connection, check: Check): LedgerReader {
  return {
    pending: async () => pendingOf(await rows<PendingRow>(PENDING)),
    held: async () =>
      (await rows<{ block: BlockIndex }>(`SELECT i AS block FROM blocks WHERE state = 'reserved' ORDER BY i`)).map(
        ({ block }) => block,
      ),
    ofPayer: (payer, page = FIRST_ACCOUNT_PAGE) =>
      snapshot(async (queries) => {
        const sales = await queries.rows<SaleRow & Named>(SALES, [payer, page.after, page.limit + 1])
        for (const { id, painter, sum } of sales)
          if (painter !== null) check('purchase_painters', { payment: id, painter, sum })
        const open = await queries.rows<OpenRow>(OPEN, [payer])
        const credits = await queries.rows<CreditRow>(CREDITS, [payer])
        const [agent] = await queries.rows<{ id: number }>('SELECT id FROM agents WHERE wallet = $1', [payer])
        const painter = agent === undefined ? null : await ofWallet({ queries, check }, agent.id)
        return accountOf({ sales, open, credits, painter }, page)
      }),
  }
}

type Named = { readonly sum: Uint8Array | null }

const PENDING = `
  SELECT state, uncertain, count(*) AS count, min(created_at) AS since FROM payments
  WHERE ${IS_UNFINISHED} AND state <> 'sold'
  GROUP BY state, uncertain`
const SALES = `
  SELECT p.id, sales.seq, sales.block, p.corner, p.size, p.claimed_at, p.tx, p.settled, named.painter, named.sum FROM (
    SELECT id, block AS corner, size, claimed_at, tx, settled FROM payments
    WHERE payer = $1 AND state = 'sold' AND seq > $2 - ${AREA_BLOCKS_MAX}
    ORDER BY seq LIMIT $3 + ${AREA_BLOCKS_MAX}) AS p
  JOIN sales ON sales.payment = p.id LEFT JOIN purchase_painters AS named ON named.payment = p.id
  WHERE sales.seq > $2 ORDER BY sales.seq LIMIT $3`
const OPEN = `
  SELECT target, size, block, created_at, state, uncertain FROM (
    SELECT id, target, size, block, created_at, state, uncertain FROM payments
    WHERE payer = $1 AND (state = 'reserved' OR (state = 'released' AND dead = 0))
    ORDER BY state = 'reserved' DESC, id DESC LIMIT ${ACCOUNT_PAGE_MAX}) AS latest
  ORDER BY id`
const CREDITS = `
  SELECT amount, tx FROM (
    SELECT id, amount, tx FROM payments
    WHERE payer = $1 AND state = 'credited' ORDER BY id DESC LIMIT ${ACCOUNT_PAGE_MAX}) AS latest
  ORDER BY id`
