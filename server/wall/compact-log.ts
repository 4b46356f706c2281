/**
 * Shortens the log: of each block's repaints and each wallet's names, keeps only the last of each hour for some days,
 * and afterwards only the latest of all.
 */

import { ignoreUnavailable } from '../domain/failure.ts'
import type { UnixMs } from '../domain/purchase/payment.ts'
import { COMPACTED_AFTER_MS, type LogNumber } from '../domain/wall/log.ts'
import type { LogCompaction, OutlinedEntry } from '../operator-ports.ts'
import type { Clock, ExclusiveJobs, Logger } from '../ports.ts'

export type CompactionDeps = {
  readonly compaction: LogCompaction
  readonly jobs: ExclusiveJobs
  readonly clock: Clock
  readonly logger: Logger
  readonly historyDays: number // how long the last entry of each hour is kept
}

const HOUR_MS = 3_600_000

// Processing a page takes some milliseconds; requests are served between two pages.
const PAGE = 500
const PAUSE_MS = 50

/** Given the next entry, returns the number of an entry that may be dropped: this entry or an earlier one. */
type Choice = (entry: OutlinedEntry) => LogNumber | undefined

/** Makes the compactor. It does nothing while the store is unavailable. */
export function createLogCompactor({
  compaction,
  jobs,
  clock,
  logger,
  historyDays,
}: CompactionDeps): (signal: AbortSignal) => Promise<void> {
  // The first run begins at the start of the log, and later runs begin where the previous run ended.
  let thinnedTo: LogNumber = 0

  /**
   * Goes through the entries before a time and drops the chosen ones. Returns the number of the last entry that it went
   * through, and how many it dropped.
   */
  const dropChosen = async (after: LogNumber, before: UnixMs, choose: Choice, signal: AbortSignal) => {
    let [to, dropped] = [after, 0]
    for (let isOver = false; !isOver && !signal.aborted;) {
      const page = await compaction.readOutline(to, PAGE)
      const old = page.filter(({ at }) => at < before)
      const numbers = old.map(choose).filter((number) => number !== undefined)
      if (numbers.length > 0) await compaction.dropEntries(numbers)
      dropped += numbers.length
      to = old.at(-1)?.number ?? to
      isOver = old.length < PAGE
      if (!isOver) await clock.wait(PAUSE_MS, signal)
    }
    return { to, dropped }
  }

  const compactOnce = async (signal: AbortSignal) => {
    const now = clock.now()
    // Only whole hours are processed, so that the last entry of each hour is known.
    const thinned = await dropChosen(
      thinnedTo,
      computeHour(now - COMPACTED_AFTER_MS) * HOUR_MS,
      createReplacedChooser(),
      signal,
    )
    thinnedTo = thinned.to
    // Reads from the start each time, because few entries are left there and an entry that was the latest may be
    // superseded by now.
    const expired = await dropChosen(0, now - historyDays * 24 * HOUR_MS, chooseSuperseded, signal)
    const dropped = thinned.dropped + expired.dropped
    if (dropped > 0) logger.note('log-compacted', { dropped, to: thinnedTo })
  }
  return async (signal) => void (await ignoreUnavailable(jobs.run('compact', () => compactOnce(signal))))
}

const computeHour = (at: UnixMs) => Math.floor(at / HOUR_MS)

const chooseSuperseded: Choice = ({ number, subject, superseded: isOld }) =>
  subject !== null && isOld === 1 ? number : undefined

/**
 * For each entry, chooses the earlier entry that it replaces within its hour. Must be called with the entries in order.
 */
function createReplacedChooser(): Choice {
  const latest = new Map<string, LogNumber>() // the latest entries of the current hour, by subject
  let hour = Number.NEGATIVE_INFINITY
  return ({ number, at, subject }) => {
    if (subject === null) return undefined
    if (computeHour(at) !== hour) latest.clear()
    hour = computeHour(at)
    const earlier = latest.get(subject)
    latest.set(subject, number)
    return earlier
  }
}
