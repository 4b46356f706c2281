/**
 * Sees to it that a server which answers now is no older copy of one that answered before, as after a failover to a standby
 * that was behind, or a backup put back below a running wall. What such a server says of money is not true.
 */

import { StoreUnavailable } from '../../server/domain/failure.ts'
import { isBehind, type Progress } from '../../server/domain/store-position.ts'
import type { StoreReplaced } from '../../server/ports.ts'
import { MOVED, NOTE } from './migration-marker.ts'
import type { Session } from './pool.ts'

/** The newest state of a database that this process has seen. It only ever rises. */
export type Watermark = {
  /** Starts watching, once there are tables. */
  begin(): void
  /** Is told from then on when another server answers. */
  watch(told: (replaced: StoreReplaced) => void): void
  /** Looks at a connection that is used for the first time. Throws `StoreUnavailable` for one to an older copy, or to what a wall left. */
  inspect(session: Session): Promise<void>
  /** What a commit must not be behind of. */
  seen(): Progress
  /** Notes what was committed. */
  rise(progress: Progress): void
}

/** What tells how far a database has come: one row of `change` and `payment`. */
export const PROGRESS = `
  SELECT number AS change, (SELECT coalesce(max(id), 0) FROM payments) AS payment FROM counters`

const INSPECT = `
  SELECT p.*, pg_postmaster_start_time()::text AS started, EXISTS (${NOTE}) AS moved FROM (${PROGRESS}) AS p`

/** Makes the watermark of a process, which has seen nothing yet. */
export function watermark(): Watermark {
  let isWatching = false
  let seen: Progress = { change: 0, payment: 0 }
  let server: string | undefined
  let isOlder = false
  const listeners: ((replaced: StoreReplaced) => void)[] = []
  const tell = (replaced: StoreReplaced) => {
    for (const told of listeners) told(replaced)
  }
  const rise = ({ change, payment }: Progress) => {
    seen = { change: Math.max(seen.change, change), payment: Math.max(seen.payment, payment) }
  }
  return {
    begin: () => void (isWatching = true),
    watch: (told) => void listeners.push(told),
    async inspect({ rows }) {
      if (!isWatching) return
      // What is seen while the answer is under way may be newer than the answer.
      const before = seen
      const [found] = await rows<Progress & { readonly started: string; readonly moved: boolean }>(INSPECT)
      if (found === undefined) throw new Error('the wall has lost its counters')
      const { started, moved, ...progress } = found
      if (moved) throw new StoreUnavailable(MOVED)
      if (isBehind(progress, before)) {
        if (!isOlder) tell({ progress, seen: before, isOlder: true })
        isOlder = true
        throw new StoreUnavailable('the database is older than the state this wall has seen')
      }
      if (isOlder || (server !== undefined && server !== started)) tell({ progress, seen: before, isOlder: false })
      isOlder = false
      server = started
      rise(progress)
    },
    seen: () => seen,
    rise,
  }
}
