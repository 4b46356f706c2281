/** The books for those who check them: what is read of them, and what it means. */

import type { Payout, Statement } from '../../server/domain/purchase/balance.ts'
import type { Address, Hash, PaymentKey, UnixMs } from '../../server/domain/purchase/payment.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { PAID_OUT, purchaseOf, SELECT_PURCHASE, type PurchaseRow, type SizeRow } from '../rows.ts'
import { rows, together, type Tx } from '../tx.ts'

/** What reads the books. */
const BOOKS = {
  totals: `
    SELECT (SELECT count(*) FROM blocks WHERE state = 'claimed') AS claimed, (SELECT min(head) FROM payments) AS head`,
  sales: `SELECT payer, nonce, block, w, h, amount, tx FROM payments WHERE state = 'sold' ORDER BY seq`,
  credits: `
    SELECT p.payer, p.nonce, p.amount, p.tx, o.reference AS paid_out
    FROM payments AS p LEFT JOIN payouts AS o ON ${PAID_OUT} WHERE p.state = 'credited' ORDER BY p.id`,
  open: `${SELECT_PURCHASE} WHERE p.state = 'reserved' OR (p.state = 'released' AND p.dead = 0) ORDER BY p.id`,
  final: `SELECT payer, nonce FROM payments WHERE state = 'released' AND dead = 1 ORDER BY id`,
  payouts: 'SELECT payer, nonce, reference, at FROM payouts ORDER BY at',
  payees: 'SELECT DISTINCT pay_to FROM payments',
} as const

/** The rows that they are read as. */
type BookRows = {
  readonly totals: { readonly claimed: number; readonly head: number | null }
  readonly sales: PaymentKey &
    SizeRow & {
      readonly block: BlockIndex
      readonly amount: number
      readonly tx: Hash
    }
  readonly credits: PaymentKey & { readonly amount: number; readonly tx: Hash; readonly paid_out: string | null }
  readonly open: PurchaseRow & { readonly created_at: UnixMs }
  readonly final: PaymentKey
  readonly payouts: Payout
  readonly payees: { readonly pay_to: Address }
}

const read = <Part extends keyof BookRows>(part: Part): Tx<readonly BookRows[Part][]> =>
  rows<BookRows[Part]>(BOOKS[part])

/** What the books say; all of it as of one moment. */
export function* statement(): Tx<Statement> {
  const [totals, sales, credits, open, final, payouts, payees] = yield* together(
    read('totals'),
    read('sales'),
    read('credits'),
    read('open'),
    read('final'),
    read('payouts'),
    read('payees'),
  )
  return statementOf({ totals, sales, credits, open, final, payouts, payees })
}

function statementOf(rows: { readonly [Part in keyof BookRows]: readonly BookRows[Part][] }): Statement {
  const [totals = { claimed: 0, head: null }] = rows.totals
  return {
    claimed: totals.claimed,
    sales: rows.sales.map(({ amount, w, h, ...sale }) => ({
      ...sale,
      blocks: w * h,
      amount: BigInt(amount),
    })),
    credits: rows.credits.map(({ amount, paid_out, ...credit }) => ({
      ...credit,
      amount: BigInt(amount),
      paidOut: paid_out,
    })),
    open: rows.open.map((row) => ({ purchase: purchaseOf(row), since: row.created_at })),
    final: rows.final,
    payouts: rows.payouts,
    payees: rows.payees.map(({ pay_to }) => pay_to),
    from: totals.head === null ? undefined : BigInt(totals.head),
  }
}
