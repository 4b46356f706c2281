/** One run at a time per key, so that no two runs of one purchase overlap in this process. */

export type SingleFlight = {
  /** Runs `work` after every earlier run for `key` has ended, however it ended. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>
  /** Whether a run for `key` is under way. */
  busy(key: string): boolean
  /** Resolves when no run is under way. */
  idle(): Promise<void>
}

export function singleFlight(): SingleFlight {
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
    busy: (key) => tails.has(key),
    async idle() {
      while (tails.size > 0) await Promise.allSettled(tails.values())
    },
  }
}
