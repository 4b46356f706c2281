/** The books for those who check them, read beside the process that owns the database and without its help. */

import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import type { Statement } from '../../server/domain/purchase/balance.ts'
import type { Audit } from '../../server/ports.ts'
import { BOOKS, statementOf, type BookRows } from '../audit.ts'
import { CannotOpen } from '../cannot-open.ts'
import { purchaseOf } from '../rows.ts'
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
    const connection: RawConnection = { prepare: (sql) => db.query(sql), run: (sql) => void db.run(sql) }
    checkSchema(connection)
    const read = db.transaction(() => readStatement(connection))
    return {
      async statement() {
        try {
          return read()
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

/** Reads the statement; all of it inside one transaction is as of one moment. */
function readStatement({ prepare }: RawConnection): Statement {
  const read = <Part extends keyof BookRows>(part: Part) => prepare<BookRows[Part]>(BOOKS[part]).all({})
  return statementOf(
    {
      totals: read('totals'),
      sales: read('sales'),
      credits: read('credits'),
      open: read('open'),
      final: read('final'),
      payouts: read('payouts'),
      payees: read('payees'),
    },
    purchaseOf,
  )
}
