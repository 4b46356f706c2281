/**
 * Watches whether the store can be read and written, and watches its disk and backups. Each check ends within a time
 * limit, even if the store hangs.
 */

import type { Pending } from '../domain/purchase/account.ts'
import type { UnixMs } from '../domain/purchase/payment.ts'
import type { Backups } from '../operator-ports.ts'
import type { LedgerReader, Clock, Store } from '../ports.ts'
import { shareNextRun } from '../purchase/single-flight.ts'
import { TIMES, type Times } from '../times.ts'
import type { Outages } from './outages.ts'

/**
 * The inputs of the watch. `readFreeBytes` reads the free space of the disk; `undefined` if the system does not report
 * it.
 */
export type StoreWatchDeps = {
  readonly store: Pick<Store, 'isReadable' | 'tryWrite'>
  readonly ledgerReader: Pick<LedgerReader, 'countPending'>
  readonly backups: Pick<Backups, 'readLastTime'>
  readonly readFreeBytes: () => Promise<number | undefined>
  readonly engine: string // the engine's name for operators
  readonly hasStandbys: boolean
  readonly outages: Outages
  readonly clock: Clock
  readonly times?: Times
}

/** The last known state of the store. */
export type StoreSeen = {
  readonly pending: Pending | undefined
  readonly freeBytes: number | undefined
  readonly backedUpAt: UnixMs | undefined // undefined: never, or not read yet
}

export type StoreWatch = {
  /** Checks everything once, within seconds. */
  check(): Promise<void>
  /** Whether the store can be read; returns the last known state if the store does not respond within a moment. */
  isReadable(): Promise<boolean>
  readLastState(): StoreSeen
}

const WRITE_MS = 5000

// A health check must respond within a fifth of a second.
const MOMENT_MS = 120

/** How old the last backup may be; the timer makes a backup every hour. */
export const BACKUP_LATE_MS = 3 * 3_600_000

/** If fewer bytes than this are free, the operator gets an alert. */
export const FREE_BYTES_MIN = 64 * 1024 * 1024

// A disk outage ends only once the free space is well above the limit, so that a disk near the limit causes only one
// outage.
const ENOUGH = 1.25

const NEVER_BACKED_UP = 'no backup was ever made; see “WallBackupMissing” in OPERATING.md'

const LATE: unique symbol = Symbol('late')

/** Makes a watch that knows nothing yet, and assumes that the store is readable. */
export function watchStore(deps: StoreWatchDeps): StoreWatch {
  const { store, ledgerReader, backups, engine, hasStandbys, outages, clock, times = TIMES } = deps
  const read = limitToOneCall(() => store.isReadable())
  // A write that an earlier check began may fail because of an outage that has ended, so its result is ignored.
  const write = shareNextRun(() => store.tryWrite())
  const countPending = limitToOneCall(() => ledgerReader.countPending().catch(() => undefined))
  const readLastBackupTime = limitToOneCall<UnixMs | undefined | typeof LATE>(() =>
    backups.readLastTime().catch((): typeof LATE => LATE),
  )
  const startedAt = clock.now()
  let isReadable = true
  let seen: StoreSeen = { pending: undefined, freeBytes: undefined, backedUpAt: undefined }

  const recordRead = (ok: boolean | typeof LATE) => {
    isReadable = ok === true
    const reason = ok === LATE ? 'the database did not respond in time' : ok ? null : 'the database cannot be read'
    outages.recordState({ kind: 'store-read', name: engine }, reason)
  }
  const checkWrites = async () => {
    const failure = await raceDeadline(clock, write(), WRITE_MS)
    // If the store cannot be read either, only the failed read is reported as an outage.
    if (failure !== null) recordRead(await raceDeadline(clock, read(), times.storeReadTimeoutMs))
    if (!isReadable) return
    const findReason = (of: 'store-write' | 'standby') => {
      if (failure === null) return null
      if (failure === LATE) return of === 'store-write' ? 'the database did not complete a write in time' : undefined
      return failure.of === of ? failure.reason : undefined
    }
    // Each outage is reported under one name only: a failed write says nothing about the standby, and vice versa.
    for (const kind of ['store-write', ...(hasStandbys ? (['standby'] as const) : [])] as const) {
      const reason = findReason(kind)
      if (reason !== undefined) outages.recordState({ kind, name: engine }, reason)
    }
  }
  const checkDisk = async () => {
    const free = await deps.readFreeBytes()
    seen = { ...seen, freeBytes: free }
    if (free === undefined) return
    const name = 'data'
    const wasLow = outages.listAll().some(({ kind, state }) => kind === 'disk' && state === 'down')
    const isLow = free < FREE_BYTES_MIN * (wasLow ? ENOUGH : 1)
    outages.recordState({ kind: 'disk', name }, isLow ? 'the disk that holds the wall’s data is nearly full' : null)
  }
  const checkBackups = async () => {
    const at = await raceDeadline(clock, readLastBackupTime(), times.storeReadTimeoutMs)
    if (at === LATE) return
    seen = { ...seen, backedUpAt: at }
    const isLate = clock.now() - (at ?? startedAt) > BACKUP_LATE_MS
    const reason = at === undefined ? NEVER_BACKED_UP : `the last backup is from ${new Date(at).toISOString()}`
    outages.recordState({ kind: 'backup', name: engine }, isLate ? reason : null)
  }
  return {
    async check() {
      await checkDisk()
      recordRead(await raceDeadline(clock, read(), times.storeReadTimeoutMs))
      if (!isReadable) return
      const pending = await raceDeadline(clock, countPending(), times.storeReadTimeoutMs)
      if (pending !== LATE && pending !== undefined) seen = { ...seen, pending }
      await checkBackups()
      await checkWrites()
    },
    async isReadable() {
      const answer = await raceDeadline(clock, read(), MOMENT_MS)
      if (answer !== LATE) recordRead(answer)
      return isReadable
    },
    readLastState: () => seen,
  }
}

/** Makes one call at a time; callers share the result. This way, no calls pile up if the store hangs. */
function limitToOneCall<T>(ask: () => Promise<T>): () => Promise<T> {
  let asking: Promise<T> | undefined
  return () =>
    (asking ??= ask().finally(() => {
      asking = undefined
    }))
}

/** Returns a result, or `LATE` if it did not arrive in time. */
async function raceDeadline<T>(clock: Clock, answer: Promise<T>, ms: number): Promise<T | typeof LATE> {
  const over = new AbortController()
  try {
    const late = clock.wait(ms, over.signal).then((): typeof LATE => LATE)
    return await Promise.race<T | typeof LATE>([answer, late])
  } finally {
    over.abort()
  }
}
