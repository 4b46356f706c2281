/**
 * Makes sure that the current server is not an outdated copy of the database. The server may be such a copy after a
 * failover to a stale standby, or after a backup was restored while the wall was running. An outdated copy has wrong
 * data about money.
 */

import { StoreUnavailable } from '../../server/domain/failure.ts'
import { isBehind, type Progress } from '../../server/domain/store-position.ts'
import type { StoreReplaced } from '../../server/ports.ts'
import { MOVED, NOTE } from './migration-marker.ts'
import type { Session } from './pool.ts'

/** The newest position of a database that this process has seen. It never decreases. */
export type Watermark = {
  /** Starts checking connections; call it once the tables exist. */
  startWatching(): void
  /** Adds a callback that is called when the server has been replaced. */
  watchForReplacement(listener: (replaced: StoreReplaced) => void): void
  /**
   * Checks a new connection. Throws `StoreUnavailable` if it leads to an older copy, or to a database that the wall has
   * left.
   */
  checkConnection(session: Session): Promise<void>
  /** The position that the database must have reached for a commit to be valid. */
  getProgress(): Progress
  /** Records the position of a commit. */
  advance(progress: Progress): void
}

/** The position of a database: one row with the columns `change` and `payment`. */
export const PROGRESS = `
  SELECT number AS change, (SELECT coalesce(max(id), 0) FROM payments) AS payment FROM counters`

const INSPECT = `
  SELECT p.*, pg_postmaster_start_time()::text AS started, EXISTS (${NOTE}) AS moved FROM (${PROGRESS}) AS p`

/** Makes the watermark of a process that has seen nothing yet. */
export function createWatermark(): Watermark {
  let isWatching = false
  let seen: Progress = { change: 0, payment: 0 }
  let server: string | undefined
  let isOlder = false
  const listeners: ((replaced: StoreReplaced) => void)[] = []
  const reportReplaced = (replaced: StoreReplaced) => {
    for (const listener of listeners) listener(replaced)
  }
  const advance = ({ change, payment }: Progress) => {
    seen = { change: Math.max(seen.change, change), payment: Math.max(seen.payment, payment) }
  }
  return {
    startWatching: () => void (isWatching = true),
    watchForReplacement: (listener) => void listeners.push(listener),
    async checkConnection({ queryRows }) {
      if (!isWatching) return
      // Positions seen while the query is in progress may be newer than its result.
      const before = seen
      const [found] = await queryRows<Progress & { readonly started: string; readonly moved: boolean }>(INSPECT)
      if (found === undefined) throw new Error('the row of counters is missing from the database')
      const { started, moved, ...progress } = found
      if (moved) throw new StoreUnavailable(MOVED)
      if (isBehind(progress, before)) {
        if (!isOlder) reportReplaced({ progress, seen: before, isOlder: true })
        isOlder = true
        throw new StoreUnavailable('the database is older than the state this wall has seen')
      }
      if (isOlder || (server !== undefined && server !== started))
        reportReplaced({ progress, seen: before, isOlder: false })
      isOlder = false
      server = started
      advance(progress)
    },
    getProgress: () => seen,
    advance,
  }
}
