/** What a store tells of itself: whether it answers, whether it can be written, and how far it has come. */

import { StoreUnavailable } from '../../server/domain/failure.ts'
import type { Store } from '../../server/ports.ts'
import { payeesOf } from '../rows.ts'
import { one, type Connection } from './connection.ts'

/** The state of a file. */
export function sqliteStore(connection: Connection): Store {
  const probe = connection.prepare('SELECT state FROM blocks WHERE i = 0')
  // Writes the first page as it is, whatever it holds; SQLite leaves out a row that is written as it was.
  const mark = connection.prepare<unknown>('PRAGMA application_id = 0x77616c6c')
  const newest = connection.prepare<{
    change: number | null
    payment: number | null
    height: number | null
    payees: string | null
  }>(`
    SELECT (SELECT max(number) FROM changes) AS change, (SELECT max(id) FROM payments) AS payment,
      (SELECT seen_height FROM wall) AS height, (SELECT payees FROM wall) AS payees`)
  return {
    ready: async () => {
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
    // Nobody else has the file, so it stays what it is.
    watch: () => {},
    async position() {
      const { change, payment, height, payees } = connection.read(() => one(newest, {}))
      await connection.flushed()
      return { change: change ?? 0, payment: payment ?? 0, height: BigInt(height ?? 0), payees: payeesOf(payees ?? '') }
    },
  }
}
