/** Keeps the wall up to date. */

import type { Wall } from '../wall/wall-model.ts'
import { withChanges, withReading, withSales } from './apply-updates.ts'
import { hasAnsweredKept } from './kept.ts'
import type { Listener, Source } from './source.ts'

// One try may fail; after this many the page says that what it shows may be old.
const FAILURES_TOLD = 2

export type Scene = {
  wall(): Wall | undefined
  show(wall: Wall): void
  /** What is to be said of the wall's age; nothing when all is well. */
  stale(words: string): void
}

const staleText = (since: number | undefined) =>
  since === undefined
    ? 'Not up to date: this is the wall as it was last read'
    : `Not up to date since ${new Date(since).toLocaleTimeString()}`

/** Keeps the scene's wall up to date until `signal` aborts. */
export function syncWall(source: Source, scene: Scene, signal: AbortSignal) {
  let failures = 0
  let heardAt = hasAnsweredKept() ? undefined : Date.now()
  const change = (next: (wall: Wall) => Wall) => {
    const wall = scene.wall()
    if (wall === undefined) return
    const changed = next(wall)
    if (changed !== wall) scene.show(changed)
  }
  const listener: Listener = {
    known: () => scene.wall()?.stats.lastSaleId ?? 0,
    sales: (sales) => change((wall) => withSales(wall, sales)),
    changes: (changes) => change((wall) => withChanges(wall, changes)),
    reading: (reading, told) => change((wall) => withReading(wall, reading, told)),
    heard(well) {
      failures = well ? 0 : failures + 1
      if (well) heardAt = Date.now()
      scene.stale(failures < FAILURES_TOLD ? '' : staleText(heardAt))
    },
  }
  source.follow(listener, signal)
}
