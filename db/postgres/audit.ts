/** The books for those who check them, as of one moment. */

import type { Audit } from '../../server/ports.ts'
import { BOOKS, statementOf, type BookRows } from '../audit.ts'
import type { Connection } from './connection.ts'
import { told, type PaymentRow } from './purchase/payments.ts'
import type { Check } from './writes.ts'

/** The books of a database. */
export function postgresAudit({ snapshot }: Connection, check: Check): Audit {
  return {
    statement: () =>
      snapshot(async ({ rows }) => {
        const read = <Part extends keyof BookRows>(part: Part) => rows<BookRows<PaymentRow>[Part]>(BOOKS[part])
        return statementOf(
          {
            totals: await read('totals'),
            sales: await read('sales'),
            credits: await read('credits'),
            open: await read('open'),
            final: await read('final'),
            payouts: await read('payouts'),
            payees: await read('payees'),
          },
          (row) => told(check, row).purchase,
        )
      }),
  }
}
