/** Runs work periodically until the process stops. */

import type { Clock, Logger } from '../ports.ts'

const AFTER_A_FAULT_MS = 5000

/**
 * Runs `work`, waits for as many milliseconds as it returns, and repeats this until `signal` aborts. An exception in
 * `work` is a bug: the operator gets an alert, but the loop continues, because otherwise buyers would wait for work
 * that has stopped.
 */
export async function runPeriodically(
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  signal: AbortSignal,
  work: () => Promise<number>,
): Promise<void> {
  while (!signal.aborted) {
    const waitMs = await work().catch((error: unknown) => {
      logger.alert('work-failed', { error: error instanceof Error ? error.name : typeof error })
      return AFTER_A_FAULT_MS
    })
    await clock.wait(waitMs, signal)
  }
}
