/** Keeps the view of the wall up to date with the log, even if other processes write to the log. */

import { StoreUnavailable } from '../domain/failure.ts'
import type { Change } from '../domain/wall/log.ts'
import { applyChange, createEmptyView, type WallView } from '../domain/wall/wall-view.ts'
import { runPeriodically } from '../health/run-periodically.ts'
import type { ChangeNotifier, Clock, Log, Logger } from '../ports.ts'
import { shareNextRun } from '../purchase/single-flight.ts'
import { TIMES, type Times } from '../times.ts'

const PAGE = 500

export type Follower = {
  readonly view: WallView
  /** Applies new entries of the log. Once it resolves, the view has everything committed before the call. */
  applyNewEntries(): Promise<void>
  /** Calls `listener` with each change once the view has it. Returns a function that unsubscribes. */
  subscribe(listener: Listener): () => void
}

type Listener = (change: Change) => void

/** Builds the view from the log, and returns a follower that applies later entries. */
export async function followLog(log: Log): Promise<Follower> {
  const view = createEmptyView()
  for (const change of await log.readCompacted()) applyChange(view, change)

  const listeners = new Set<Listener>()
  // Only one reader runs at a time, because two would apply the same entries twice.
  const advance = shareNextRun(async () => {
    for (;;) {
      const changes = await log.readAfter(view.number, PAGE)
      for (const change of changes) {
        if (change.number !== view.number + 1) throw new RangeError(`the log has a gap before ${change.number}`)
        applyChange(view, change)
        for (const listener of listeners) listener(change)
      }
      if (changes.length < PAGE) return
    }
  })
  return {
    view,
    applyNewEntries: advance,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

type PollLogDeps = {
  readonly notifier: ChangeNotifier
  readonly applyNewEntries: () => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
  readonly times?: Times
}

/**
 * Applies new entries at each notification, and every second in case a notification is missed, until `signal` aborts.
 */
export async function pollLog(deps: PollLogDeps, signal: AbortSignal): Promise<void> {
  const { notifier, applyNewEntries, clock, logger, times = TIMES } = deps
  let isBehind = false
  const catchUp = async () => {
    try {
      await applyNewEntries()
      if (isBehind) logger.note('log-followed')
      isBehind = false
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      if (!isBehind)
        logger.note('log-out-of-reach', {
          what: 'the database is unavailable; readers see the last known state of the wall',
        })
      isBehind = true
    }
  }
  // An error here is ignored, because it occurs again in the poll, which reports it.
  const stop = notifier.listen(() => void catchUp().catch(() => {}))
  await runPeriodically({ clock, logger }, signal, async () => {
    await catchUp()
    return times.logPolledEveryMs
  })
  stop()
}

/**
 * Returns the result of `build`, which runs again if the start-up check repaired the store. Rejects if the check
 * rejects the store.
 */
export async function waitForStartUpCheck<T>(
  checked: Promise<'whole' | 'repaired'>,
  build: () => Promise<T>,
): Promise<T> {
  const early = build()
  // Damage may make the build fail; its error is reported only after the check, which may find the cause.
  early.catch(() => {})
  return (await checked) === 'whole' ? await early : await build()
}
