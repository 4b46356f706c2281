/** Keeps views up to date with a log that other processes write, too. */

import { StoreUnavailable } from '../domain/failure.ts'
import { runPeriodically } from '../health/run-periodically.ts'
import type { ChangeNotifier, Clock, Logger } from '../ports.ts'
import { TIMES, type Times } from '../times.ts'

/** What keeping level needs. */
export type PollLogDeps = {
  readonly notifier: ChangeNotifier
  readonly advance: () => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
  readonly times?: Times
}

/** Advances at each notification, and every second in case one is missed, until `signal` aborts. */
export async function pollLog(deps: PollLogDeps, signal: AbortSignal): Promise<void> {
  const { notifier, advance, clock, logger, times = TIMES } = deps
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
    return times.logPolledEveryMs
  })
  stop()
}
