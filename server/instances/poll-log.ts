/** Keeps views up to date with a log that other processes write, too. */

import { StoreUnavailable } from '../domain/failure.ts'
import { runPeriodically } from '../health/run-periodically.ts'
import type { ChangeNotifier, Clock, Logger } from '../ports.ts'

// A change whose notification is lost is seen within this time.
const POLL_EVERY_MS = 1000

/** What keeping level needs. */
export type PollLogDeps = {
  readonly notifier: ChangeNotifier
  readonly advance: () => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
}

/** Advances at each notification, and every second in case one is missed, until `signal` aborts. */
export async function pollLog({ notifier, advance, clock, logger }: PollLogDeps, signal: AbortSignal): Promise<void> {
  let isBehind = false
  const catchUp = async () => {
    try {
      await advance()
      if (isBehind) logger.note('log-followed')
      isBehind = false
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      if (!isBehind)
        logger.note('log-out-of-reach', { what: 'the store is unavailable; readers see the wall as it was' })
      isBehind = true
    }
  }
  // An error here occurs again in the poll, which reports it.
  const stop = notifier.listen(() => void catchUp().catch(() => {}))
  await runPeriodically({ clock, logger }, signal, async () => {
    await catchUp()
    return POLL_EVERY_MS
  })
  stop()
}
