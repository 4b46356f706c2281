/** The books for those who check them, read beside the process that owns the database and without its help. */

import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import type { BookedCredit, Payout, Statement } from '../../server/domain/purchase/balance.ts'
import type { Address, Hash, PaymentKey, UnixMs } from '../../server/domain/purchase/payment.ts'
import { blocksIn } from '../../server/domain/purchase/target.ts'
import type { Audit } from '../../server/ports.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { CannotOpen } from '../cannot-open.ts'
import { PAID_OUT, purchaseOf, SELECT_PURCHASE, targetIn, type PurchaseRow, type Size } from '../rows.ts'
import { troubleOf } from './errors.ts'
import { checkSchema } from './migrate.ts'
import type { RawConnection } from './raw.ts'

/** The books of an open file. */
export type OpenAudit = Audit & { close(): void }

/** Opens the file at `path` for reading alone. Throws `CannotOpen`. */
export function openAudit(path: string): OpenAudit {
  if (!existsSync(path)) throw new CannotOpen(`there is no database at ${path}`)
  const told = (error: unknown) => {
    const trouble = troubleOf(error)
    return trouble === undefined ? error : new CannotOpen(`the database ${path} cannot be read: ${trouble}`)
  }
  try {
    const db = new Database(path, { readonly: true, strict: true })
    // The owner's checkpoints hold locks for moments.
    db.run('PRAGMA busy_timeout = 5000')
    const connection: RawConnection = { prepare: (sql) => db.prepare(sql), run: (sql) => void db.run(sql) }
    checkSchema(connection)
    const read = statementReader(connection)
    return {
      async statement() {
        try {
          return db.transaction(read)()
        } catch (error) {
          throw told(error)
        }
      },
      close: () => db.close(),
    }
  } catch (error) {
    throw told(error)
  }
}

type SaleRow = PaymentKey & {
  readonly block: BlockIndex
  readonly size: Size
  readonly amount: number
  readonly tx: Hash
}
type CreditRow = PaymentKey & { readonly amount: number; readonly tx: Hash; readonly paid_out: string | null }

/** Reads the statement; all of it inside one transaction is as of one moment. */
function statementReader(connection: RawConnection): () => Statement {
  const sql = {
    claimed: connection.prepare<{ count: number }>(`SELECT count(*) AS count FROM blocks WHERE state = 'claimed'`),
    sales: connection.prepare<SaleRow>(
      `SELECT payer, nonce, block, size, amount, tx FROM payments WHERE state = 'sold' ORDER BY seq`,
    ),
    credits: connection.prepare<CreditRow>(`
      SELECT p.payer, p.nonce, p.amount, p.tx, o.reference AS paid_out
      FROM payments AS p LEFT JOIN payouts AS o ON ${PAID_OUT} WHERE p.state = 'credited' ORDER BY p.id`),
    open: connection.prepare<PurchaseRow & { created_at: UnixMs }>(
      `${SELECT_PURCHASE} WHERE p.state = 'reserved' OR (p.state = 'released' AND p.dead = 0) ORDER BY p.id`,
    ),
    final: connection.prepare<PaymentKey>(
      `SELECT payer, nonce FROM payments WHERE state = 'released' AND dead = 1 ORDER BY id`,
    ),
    payouts: connection.prepare<Payout>('SELECT payer, nonce, reference, at FROM payouts ORDER BY at'),
    payees: connection.prepare<{ pay_to: Address }>('SELECT DISTINCT pay_to FROM payments'),
    from: connection.prepare<{ head: number | null }>('SELECT min(head) AS head FROM payments'),
  }
  return () => {
    const head = sql.from.get({})?.head ?? null
    return {
      claimed: sql.claimed.get({})?.count ?? 0,
      sales: sql.sales.all({}).map(({ amount, size, ...sale }) => ({
        ...sale,
        blocks: blocksIn(targetIn({ target: null, size })),
        amount: BigInt(amount),
      })),
      credits: sql.credits.all({}).map(creditOf),
      open: sql.open.all({}).map((row) => ({ purchase: purchaseOf(row), since: row.created_at })),
      final: sql.final.all({}),
      payouts: sql.payouts.all({}),
      payees: sql.payees.all({}).map(({ pay_to }) => pay_to),
      from: head === null ? undefined : BigInt(head),
    }
  }
}

const creditOf = ({ amount, paid_out, ...credit }: CreditRow): BookedCredit => ({
  ...credit,
  amount: BigInt(amount),
  paidOut: paid_out,
})
