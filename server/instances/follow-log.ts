/** Keeps the view of the wall up to date with the log. */

import type { Change } from '../domain/wall/log.ts'
import { applyChange, emptyView, type WallView } from '../domain/wall/wall-view.ts'
import type { Log } from '../ports.ts'
import { sharedRead } from '../purchase/single-flight.ts'

const PAGE = 500

export type Follower = {
  readonly view: WallView
  /** Applies new entries of the log. What was committed before the call is in the view after it. */
  advance(): Promise<void>
  /** Calls `listener` with each change once the view has it. Returns how to unsubscribe. */
  subscribe(listener: Listener): () => void
}

type Listener = (change: Change) => void

/** Builds the view from the log, and follows it from there. */
export async function followLog(log: Log): Promise<Follower> {
  const view = emptyView()
  for (const change of await log.compacted()) applyChange(view, change)

  const listeners = new Set<Listener>()
  // One reader at a time, for two that read the same entries would apply them twice.
  const advance = sharedRead(async () => {
    for (;;) {
      const changes = await log.after(view.number, PAGE)
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
    advance,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
