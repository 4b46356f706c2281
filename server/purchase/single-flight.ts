/** Never runs the same work twice at the same time: one run per key, or one run that all concurrent callers share. */

export type SingleFlight = {
  /** Runs `work` after every earlier run for `key` has ended, whatever its result. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>
  /** Resolves when no run is in progress. */
  waitUntilIdle(): Promise<void>
}

/** Makes a single flight, in which runs for the same key never overlap. */
export function createSingleFlight(): SingleFlight {
  const tails = new Map<string, Promise<unknown>>()
  return {
    async run(key, work) {
      const before = tails.get(key) ?? Promise.resolve()
      const mine = before.then(work, work)
      tails.set(key, mine)
      try {
        return await mine
      } finally {
        if (tails.get(key) === mine) tails.delete(key)
      }
    },
    async waitUntilIdle() {
      while (tails.size > 0) await Promise.allSettled(tails.values())
    },
  }
}

/**
 * Never runs `work` twice at the same time. Callers during a run share the next run, which sees everything that happened
 * before the call.
 */
export function shareNextRun<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  return () => {
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined
        const mine = work()
        running = mine
        return mine
      })
    return next
  }
}
