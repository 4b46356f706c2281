/** The state of a store: whether it can be read and written, and its position. */

import { StoreUnavailable } from '../../server/domain/failure.ts'
import type { Store } from '../../server/ports.ts'
import { readIdentity } from '../purchase/books.ts'
import type { Connection } from './connection.ts'
import { runWork } from './driver.ts'

/** The state of a store in a SQLite file. */
export function createSqliteStore(connection: Connection): Store {
  const probe = connection.prepare('SELECT state FROM blocks WHERE i = 0')
  // Rewrites the first page unchanged. Rewriting a row would not be enough, because SQLite skips a write that changes
  // nothing.
  const mark = connection.prepare<unknown>('PRAGMA application_id = 0x77616c6c')
  return {
    isReadable: async () => {
      try {
        return connection.read(() => probe.get({}) !== null)
      } catch {
        return false
      }
    },
    async tryWrite() {
      try {
        await connection.writeTogether(() => mark.run({}))
        return null
      } catch (error) {
        return { of: 'store-write', reason: error instanceof StoreUnavailable ? error.message : 'the database failed' }
      }
    },
    // No other process has the file open, so it is never replaced.
    watchForReplacement: () => {},
    async readPosition() {
      const { position } = connection.read(() => runWork(connection, readIdentity()))
      await connection.waitUntilFlushed()
      return position
    },
  }
}
