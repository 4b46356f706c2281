/** Many writers, one commit: what is asked for in one turn of the event loop waits for the disk once. */

import { StoreBroken } from '../../server/domain/failure.ts'

/** Runs a function a little later. */
export type Soon = (work: () => void) => void

// While something is written, and the disk is waited for, nobody is answered.
const RESTS = 3

/** Runs functions late enough that they hold this thread a quarter of the time at most. */
export function sparing(): Soon {
  let [lastAt, tookMs] = [Number.NEGATIVE_INFINITY, 0]
  return (work) => {
    const run = () => {
      const startedAt = performance.now()
      work()
      lastAt = performance.now()
      tookMs = lastAt - startedAt
    }
    const restMs = lastAt + RESTS * tookMs - performance.now()
    if (restMs < 1) setImmediate(run)
    else setTimeout(run, restMs)
  }
}

type Write = <T>(work: () => T) => T

type Waiting = {
  /** Does the work, inside a transaction; the answer tells its writer once that is committed. */
  work(): () => void
  fail(error: unknown): void
}

/** Gathers work until `soon` runs, and then does it by one `write`. */
export function together(write: Write, soon: Soon): <T>(work: () => T) => Promise<T> {
  let waiting: Waiting[] = []

  const attempt = (all: readonly Waiting[]) => {
    try {
      const told = write(() => all.map(({ work }) => work()))
      for (const tell of told) tell()
    } catch (error) {
      // One that fails undoes all of them, so each is then tried alone; but after a broken disk nothing is tried.
      if (all.length === 1 || error instanceof StoreBroken) for (const { fail } of all) fail(error)
      else for (const one of all) attempt([one])
    }
  }
  return (work) =>
    new Promise((resolve, reject) => {
      const run = () => {
        const value = work()
        return () => resolve(value)
      }
      waiting.push({ work: run, fail: reject })
      if (waiting.length > 1) return
      soon(() => {
        const all = waiting
        waiting = []
        attempt(all)
      })
    })
}
