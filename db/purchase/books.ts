/** The books for those who check them: what is read of them, and what it means. */

import type { BookedCredit, BookedSale, Payout, Statement } from '../../server/domain/purchase/balance.ts'
import type { PaymentKey, UnixMs } from '../../server/domain/purchase/payment.ts'
import { PAID_OUT, purchaseOf, SELECT_PURCHASE, type PurchaseRow, type SizeRow } from '../rows.ts'
import { one, rows, together, type Tx } from '../tx.ts'
import { payees } from './chain-money.ts'

const TOTALS = `
  SELECT (SELECT count(*) FROM blocks WHERE state = 'claimed') AS claimed, (SELECT min(head) FROM payments) AS head`
const SALES = "SELECT payer, nonce, block, w, h, amount, tx FROM payments WHERE state = 'sold' ORDER BY seq"
const CREDITS = `
  SELECT p.payer, p.nonce, p.amount, p.tx, o.reference AS paid_out
  FROM payments AS p LEFT JOIN payouts AS o ON ${PAID_OUT} WHERE p.state = 'credited' ORDER BY p.id`
const OPEN = `${SELECT_PURCHASE} WHERE p.state = 'reserved' OR (p.state = 'released' AND p.dead = 0) ORDER BY p.id`
const FINAL = "SELECT payer, nonce FROM payments WHERE state = 'released' AND dead = 1 ORDER BY id"
const PAYOUTS = 'SELECT payer, nonce, reference, at FROM payouts ORDER BY at'

type Totals = { readonly claimed: number; readonly head: number | null }
type Amount = { readonly amount: number }
type CreditRow = Omit<BookedCredit, 'amount' | 'paidOut'> & Amount & { readonly paid_out: string | null }

/** What the books say; all of it as of one moment. */
export function* statement(): Tx<Statement> {
  const [{ claimed, head }, sales, credits, open, final, payouts, payTo] = yield* together(
    one<Totals>(TOTALS),
    rows<Omit<BookedSale, 'amount' | 'blocks'> & SizeRow & Amount>(SALES),
    rows<CreditRow>(CREDITS),
    rows<PurchaseRow & { readonly created_at: UnixMs }>(OPEN),
    rows<PaymentKey>(FINAL),
    rows<Payout>(PAYOUTS),
    payees(),
  )
  return {
    claimed,
    sales: sales.map(({ amount, w, h, ...sale }) => ({ ...sale, blocks: w * h, amount: BigInt(amount) })),
    credits: credits.map(({ amount, paid_out: paidOut, ...credit }) => ({
      ...credit,
      amount: BigInt(amount),
      paidOut,
    })),
    open: open.map((row) => ({ purchase: purchaseOf(row), since: row.created_at })),
    final,
    payouts,
    payees: payTo,
    from: head === null ? undefined : BigInt(head),
  }
}
