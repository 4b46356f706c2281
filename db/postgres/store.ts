/** The state of a store: whether it can be read and written, and its position. */

import type { Store, WriteFailure } from '../../server/ports.ts'
import { readIdentity } from '../purchase/books.ts'
import { countChangedRows } from '../tx.ts'
import type { Connection } from './connection.ts'

// Longer than any commit should take, but shorter than the callers wait.
const WRITE_MS = 3000

// Deletes no lease: the statement itself writes no row, but the commit is still flushed.
const TOUCH = 'DELETE FROM leases WHERE false'

const NO_STANDBY: WriteFailure = { of: 'standby', reason: 'no synchronous standby confirms commits' }

/** The state of a database. */
export function createPostgresStore({ queryRows, query, write, watermark }: Connection): Store {
  const isAwaitingStandby = async () => (await queryRows(AWAITS_STANDBY)).length > 0
  return {
    async tryWrite() {
      try {
        // A commit that waits for a standby has no timeout, so no further commit is begun while one waits.
        if (await isAwaitingStandby()) return NO_STANDBY
        const writing = write(null, () => countChangedRows(TOUCH, {})).then(() => null, toWriteFailure)
        const result = await Promise.race([writing, Bun.sleep(WRITE_MS)])
        if (result !== undefined) return result
        return (await isAwaitingStandby())
          ? NO_STANDBY
          : { of: 'store-write', reason: 'the database did not complete a write in time' }
      } catch (error) {
        return toWriteFailure(error)
      }
    },
    watchForReplacement: watermark.watchForReplacement,
    isReadable: async () => {
      try {
        return (await queryRows('SELECT state FROM blocks WHERE i = 0')).length === 1
      } catch {
        return false
      }
    },
    async readPosition() {
      const { position } = await query(readIdentity)
      watermark.advance(position)
      return position
    },
  }
}

const toWriteFailure = (error: unknown): WriteFailure => ({
  of: 'store-write',
  reason: error instanceof Error ? error.message : 'the database failed',
})

// A user without permission to see other sessions sees only its own.
const AWAITS_STANDBY = `
  SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event = 'SyncRep' AND clock_timestamp() - query_start > interval '2 seconds'
  LIMIT 1`
