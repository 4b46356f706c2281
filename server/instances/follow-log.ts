/** Keeps the view of the wall level with the log. */

import type { Change } from '../domain/wall/log.ts'
import { applyChange, emptyView, type WallView } from '../domain/wall/wall-view.ts'
import type { Log } from '../ports.ts'

const PAGE = 500

export type Follower = {
  readonly view: WallView
  /** Applies what the log holds beyond the view. What is committed before the call is in the view after it. */
  advance(): Promise<void>
  /** Tells of each change as soon as the view has it, until the answer is called. */
  subscribe(listener: Listener): () => void
}

type Listener = (change: Change) => void

/** Builds the view from the log, and follows it from there. */
export async function followLog(log: Log): Promise<Follower> {
  const view = emptyView()
  for (const change of await log.compacted()) applyChange(view, change)

  const listeners = new Set<Listener>()
  const catchUp = async () => {
    for (;;) {
      const changes = await log.after(view.number, PAGE)
      for (const change of changes) {
        if (change.number !== view.number + 1) throw new RangeError(`the log has a gap before ${change.number}`)
        applyChange(view, change)
        for (const listener of listeners) listener(change)
      }
      if (changes.length < PAGE) return
    }
  }

  // One reader at a time, for two that read the same entries would apply them twice. Whoever comes while one reads may
  // have committed after it read, and shares the next.
  let reading: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  return {
    view,
    advance() {
      next ??= reading
        .catch(() => {})
        .then(() => {
          next = undefined
          reading = catchUp()
          return reading
        })
      return next
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
