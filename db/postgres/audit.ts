/** The books for those who check them, as of one moment. */

import type { Audit } from '../../server/ports.ts'
import { BOOKS, statementOf, type BookRows } from '../audit.ts'
import type { OpenBooks } from '../open.ts'
import { openConnection, type Connection } from './connection.ts'
import { checkSchema } from './migrate.ts'
import { WALL_NAME } from './pool.ts'
import { told, type PaymentRow } from './purchase/payments.ts'
import { checking, type Check } from './writes.ts'

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

/** Opens the database at a URL for reading its books alone. Throws `CannotOpen`. */
export async function openPostgresAudit(url: string): Promise<OpenBooks> {
  const connection = await openConnection(url, (connection) => connection.apart(checkSchema))
  return {
    ...postgresAudit(
      connection,
      checking(() => {}),
    ),
    async instances() {
      const [row] = await connection.rows<{ count: number }>(INSTANCES)
      return row?.count ?? 0
    },
    close: connection.close,
  }
}

// Each process that has a wall open listens once.
const INSTANCES = `
  SELECT count(*) AS count FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = '${WALL_NAME}' AND query ILIKE 'LISTEN %'`
