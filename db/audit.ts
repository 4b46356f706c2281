/** The books for those who check them: what is read of them, and what it means. */

import type { Payout, Statement } from '../server/domain/purchase/balance.ts'
import type { Address, Hash, PaymentKey, UnixMs } from '../server/domain/purchase/payment.ts'
import type { Purchase } from '../server/domain/purchase/purchase.ts'
import { blocksIn } from '../server/domain/purchase/target.ts'
import type { BlockIndex } from '../shared/wall.ts'
import { PAID_OUT, SELECT_PURCHASE, targetIn, type PurchaseRow, type Size } from './rows.ts'

/** What reads the books; both engines read them by the same text. */
export const BOOKS = {
  totals: `
    SELECT (SELECT count(*) FROM blocks WHERE state = 'claimed') AS claimed, (SELECT min(head) FROM payments) AS head`,
  sales: `SELECT payer, nonce, block, size, amount, tx FROM payments WHERE state = 'sold' ORDER BY seq`,
  credits: `
    SELECT p.payer, p.nonce, p.amount, p.tx, o.reference AS paid_out
    FROM payments AS p LEFT JOIN payouts AS o ON ${PAID_OUT} WHERE p.state = 'credited' ORDER BY p.id`,
  open: `${SELECT_PURCHASE} WHERE p.state = 'reserved' OR (p.state = 'released' AND p.dead = 0) ORDER BY p.id`,
  final: `SELECT payer, nonce FROM payments WHERE state = 'released' AND dead = 1 ORDER BY id`,
  payouts: 'SELECT payer, nonce, reference, at FROM payouts ORDER BY at',
  payees: 'SELECT DISTINCT pay_to FROM payments',
} as const

/** The rows that they are read as; all of them as of one moment. */
export type BookRows<Open extends PurchaseRow = PurchaseRow> = {
  readonly totals: { readonly claimed: number; readonly head: number | null }
  readonly sales: PaymentKey & {
    readonly block: BlockIndex
    readonly size: Size
    readonly amount: number
    readonly tx: Hash
  }
  readonly credits: PaymentKey & { readonly amount: number; readonly tx: Hash; readonly paid_out: string | null }
  readonly open: Open & { readonly created_at: UnixMs }
  readonly final: PaymentKey
  readonly payouts: Payout
  readonly payees: { readonly pay_to: Address }
}

/** What the books say; `purchaseIn` reads a purchase that is open. */
export function statementOf<Open extends PurchaseRow>(
  rows: { readonly [Part in keyof BookRows]: readonly BookRows<Open>[Part][] },
  purchaseIn: (row: Open) => Purchase,
): Statement {
  const [totals = { claimed: 0, head: null }] = rows.totals
  return {
    claimed: totals.claimed,
    sales: rows.sales.map(({ amount, size, ...sale }) => ({
      ...sale,
      blocks: blocksIn(targetIn({ target: null, size })),
      amount: BigInt(amount),
    })),
    credits: rows.credits.map(({ amount, paid_out, ...credit }) => ({
      ...credit,
      amount: BigInt(amount),
      paidOut: paid_out,
    })),
    open: rows.open.map((row) => ({ purchase: purchaseIn(row), since: row.created_at })),
    final: rows.final,
    payouts: rows.payouts,
    payees: rows.payees.map(({ pay_to }) => pay_to),
    from: totals.head === null ? undefined : BigInt(totals.head),
  }
}
