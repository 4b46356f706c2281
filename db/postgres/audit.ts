/** The books for auditors, read while other processes sell. */

import { ensureSameNetwork } from '../cannot-open.ts'
import { type Books, readEntries, readIdentity, readStatement } from '../purchase/books.ts'
import { readLastBackup } from '../wall/backups.ts'
import { openConnection } from './connection.ts'
import { checkSchema } from './migrate.ts'
import { ensureNotMoved } from './migration-marker.ts'
import { WALL_NAME } from './pool.ts'

/** The books of an open database, and how many processes have it open. */
type OpenAudit = Books & { countInstances(): Promise<number>; close(): Promise<void> }

/** Opens the database at a URL read-only, for its books. Throws `CannotOpen`. */
export async function openPostgresAudit(url: string): Promise<OpenAudit> {
  const connection = await openConnection(url, (connection) => connection.borrowWithoutTimeout(checkSchema))
  return {
    readStatement: () => connection.read(readStatement),
    readEntries: (since) => readEntries(since, connection.query),
    readLastBackupTime: () => connection.read(readLastBackup),
    async readPosition(network) {
      await connection.borrowWithoutTimeout(ensureNotMoved)
      const found = await connection.read(readIdentity)
      ensureSameNetwork(found.network, network)
      return found.position
    },
    async countInstances() {
      const [row] = await connection.queryRows<{ count: number }>(INSTANCES)
      return row?.count ?? 0
    },
    close: connection.close,
  }
}

// Each process with an open wall has one listener.
const INSTANCES = `
  SELECT count(*) AS count FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = '${WALL_NAME}' AND query ILIKE 'LISTEN %'`
