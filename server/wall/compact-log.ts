/** Makes the log shorter: of old repaints of a block, keeps the last of each hour. */

import type { BlockIndex } from '../../shared/wall.ts'
import { ifAvailable } from '../domain/failure.ts'
import type { UnixMs } from '../domain/purchase/payment.ts'
import { COMPACTED_AFTER_MS, type LogNumber } from '../domain/wall/log.ts'
import type { Clock, ExclusiveJobs, Logger, LogCompaction } from '../ports.ts'

export type CompactionDeps = {
  readonly compaction: LogCompaction
  readonly jobs: ExclusiveJobs
  readonly clock: Clock
  readonly logger: Logger
}

const HOUR_MS = 3_600_000

// A page takes some milliseconds; between two of them others are answered.
const PAGE = 500
const PAUSE_MS = 50

/** Makes the compactor. The first run begins at the log's start, later ones where the last ended. Skips an unavailable store. */
export function logCompactor({
  compaction,
  jobs,
  clock,
  logger,
}: CompactionDeps): (signal: AbortSignal) => Promise<void> {
  let doneTo: LogNumber = 0

  const compact = async (signal: AbortSignal) => {
    // Whole hours only, so that the last repaint of one is known.
    const before = Math.floor((clock.now() - COMPACTED_AFTER_MS) / HOUR_MS) * HOUR_MS
    const replaced = replacedIn(before)
    let dropped = 0
    for (let isOver = false; !isOver && !signal.aborted;) {
      const page = await compaction.outline(doneTo, PAGE)
      const old = page.filter(({ at }) => at < before)
      const numbers = old.map(replaced).filter((number) => number !== undefined)
      if (numbers.length > 0) await compaction.drop(numbers)
      dropped += numbers.length
      doneTo = old.at(-1)?.number ?? doneTo
      isOver = old.length < PAGE
      if (!isOver) await clock.wait(PAUSE_MS, signal)
    }
    if (dropped > 0) logger.note('log-compacted', { dropped, to: doneTo })
  }
  return async (signal) => void (await ifAvailable(jobs.run('compact', () => compact(signal))))
}

/** Takes entries in order; answers which earlier entry each one replaces. */
function replacedIn(before: UnixMs) {
  const latest = new Map<BlockIndex, LogNumber>() // of the hour under way
  let hour = Number.NEGATIVE_INFINITY
  return ({ number, at, repainted }: { number: LogNumber; at: UnixMs; repainted: BlockIndex | null }) => {
    if (repainted === null || at >= before) return undefined
    const own = Math.floor(at / HOUR_MS)
    if (own !== hour) latest.clear()
    hour = own
    const replaced = latest.get(repainted)
    latest.set(repainted, number)
    return replaced
  }
}
