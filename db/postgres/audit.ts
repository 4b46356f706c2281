/** The books for those who check them, as of one moment. */

import type { Payout } from '../../server/domain/purchase/balance.ts'
import type { PaymentKey, UnixMs } from '../../server/domain/purchase/payment.ts'
import type { Hash, Address } from '../../server/domain/purchase/payment.ts'
import { blocksIn } from '../../server/domain/purchase/target.ts'
import type { Audit } from '../../server/ports.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { PAID_OUT, SELECT_PURCHASE, targetIn, type Size } from '../rows.ts'
import type { Connection } from './connection.ts'
import type { Queries } from './pool.ts'
import { told, type PaymentRow } from './purchase/payments.ts'
import type { Check } from './writes.ts'

type SaleRow = PaymentKey & {
  readonly block: BlockIndex
  readonly size: Size
  readonly amount: number
  readonly tx: Hash
}
type CreditRow = PaymentKey & { readonly amount: number; readonly tx: Hash; readonly paid_out: string | null }

/** The books of a database. */
export function postgresAudit({ snapshot }: Connection, check: Check): Audit {
  return {
    statement: () =>
      snapshot(async (queries) => {
        const [totals] = await queries.rows<{ claimed: number; head: number | null }>(TOTALS)
        const payees = await queries.rows<{ pay_to: Address }>('SELECT DISTINCT pay_to FROM payments')
        const head = totals?.head ?? null
        return {
          claimed: totals?.claimed ?? 0,
          ...(await ended(queries)),
          open: (await queries.rows<PaymentRow & { created_at: UnixMs }>(OPEN)).map((row) => ({
            purchase: told(check, row).purchase,
            since: row.created_at,
          })),
          final: await queries.rows<PaymentKey>(DEAD),
          payouts: await queries.rows<Payout>('SELECT payer, nonce, reference, at FROM payouts ORDER BY at'),
          payees: payees.map(({ pay_to }) => pay_to),
          from: head === null ? undefined : BigInt(head),
        }
      }),
  }
}

async function ended({ rows }: Queries) {
  return {
    sales: (await rows<SaleRow>(SALES)).map(({ amount, size, ...sale }) => ({
      ...sale,
      blocks: blocksIn(targetIn({ target: null, size })),
      amount: BigInt(amount),
    })),
    credits: (await rows<CreditRow>(CREDITS)).map(({ amount, paid_out, ...credit }) => ({
      ...credit,
      amount: BigInt(amount),
      paidOut: paid_out,
    })),
  }
}

const TOTALS = `
  SELECT (SELECT count(*) FROM blocks WHERE state = 'claimed') AS claimed, (SELECT min(head) FROM payments) AS head`
const SALES = `SELECT payer, nonce, block, size, amount, tx FROM payments WHERE state = 'sold' ORDER BY seq`
const CREDITS = `
  SELECT p.payer, p.nonce, p.amount, p.tx, o.reference AS paid_out
  FROM payments AS p LEFT JOIN payouts AS o ON ${PAID_OUT} WHERE p.state = 'credited' ORDER BY p.id`
const OPEN = `${SELECT_PURCHASE} WHERE p.state = 'reserved' OR (p.state = 'released' AND p.dead = 0) ORDER BY p.id`
const DEAD = `SELECT payer, nonce FROM payments WHERE state = 'released' AND dead = 1 ORDER BY id`
