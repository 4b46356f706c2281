/** Keeps the wall up to date. */

import type { Wall } from '../wall/wall-model.ts'
import { withChanges, withReading, withSales } from './apply-updates.ts'
import type { Listener } from './listener.ts'
import { followLog } from './live.ts'
import type { CanvasReader } from './read-canvas.ts'
import { hasUsedCache } from './service-cache.ts'

// One attempt may fail; after this many the page says that what it shows may be old.
const FAILURES_TOLD = 2

export type SyncDeps = {
  readonly readCanvas: CanvasReader
  wall(): Wall | undefined
  show(wall: Wall): void
  /** Shows a warning about the wall's age; an empty one when all is well. */
  stale(words: string): void
}

const staleText = (since: number | undefined) =>
  since === undefined
    ? 'Not up to date: this is the wall as it was last read'
    : `Not up to date since ${new Date(since).toLocaleTimeString()}`

/** Keeps the wall up to date until `signal` aborts. */
export function syncWall({ readCanvas, wall: current, show, stale }: SyncDeps, signal: AbortSignal) {
  let failures = 0
  let heardAt = hasUsedCache() ? undefined : Date.now()
  const change = (next: (wall: Wall) => Wall) => {
    const wall = current()
    if (wall === undefined) return
    const changed = next(wall)
    if (changed !== wall) show(changed)
  }
  const listener: Listener = {
    known: () => current()?.stats.lastSaleId ?? 0,
    sales: (sales) => change((wall) => withSales(wall, sales)),
    changes: (changes) => change((wall) => withChanges(wall, changes)),
    reading: (reading, told) => change((wall) => withReading(wall, reading, told)),
    heard(well) {
      failures = well ? 0 : failures + 1
      if (well) heardAt = Date.now()
      stale(failures < FAILURES_TOLD ? '' : staleText(heardAt))
    },
  }
  followLog(listener, readCanvas, signal)
}
