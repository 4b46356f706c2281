/** The books for auditors, read without the help of the process that owns the database. */

import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { ensureSameNetwork, NoWallYet } from '../cannot-open.ts'
import { type Books, readEntries, readIdentity, readStatement } from '../purchase/books.ts'
import type { Tx } from '../tx.ts'
import { readLastBackup } from '../wall/backups.ts'
import { runWork } from './driver.ts'
import { runOrRefuseToOpen } from './errors.ts'
import { checkSchema } from './migrate.ts'
import { ensureNotMoved } from './migration-marker.ts'
import type { RawConnection } from './raw.ts'

/** The books of an open file. */
export type OpenAudit = Books & { close(): void }

/** Opens the file at `path` read-only. Throws `CannotOpen`. */
export function openAudit(path: string): OpenAudit {
  if (!existsSync(path)) throw new NoWallYet(`there is no database at ${path}`)
  return runOrRefuseToOpen(path, () => {
    const db = new Database(path, { readonly: true, strict: true })
    // The owning process holds locks briefly during checkpoints.
    db.run('PRAGMA busy_timeout = 5000')
    const connection: RawConnection = { prepare: (sql) => db.query(sql), run: (sql) => void db.run(sql) }
    checkSchema(connection)
    // All reads inside one transaction see the same snapshot.
    const read = async <T>(work: () => Tx<T>) =>
      runOrRefuseToOpen(
        path,
        db.transaction(() => runWork({ prepareNumbered: (sql) => db.query(sql), checkRows: () => {} }, work())),
      )
    return {
      readStatement: () => read(readStatement),
      readEntries: (since) => readEntries(since, read),
      readLastBackupTime: () => read(readLastBackup),
      async readPosition(network) {
        ensureNotMoved(path)
        const found = await read(readIdentity)
        ensureSameNetwork(found.network, network)
        return found.position
      },
      close: () => db.close(),
    }
  })
}
