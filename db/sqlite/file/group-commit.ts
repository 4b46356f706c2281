/** Many writers, one commit: what is asked for while the disk is waited for is written after that, at once. */

import { StoreBroken } from '../../../server/domain/failure.ts'

/** Runs a function a little later. */
export type Soon = (work: () => void) => void

type Write = <T>(work: () => T) => T

/** What writing together takes: a transaction, when to begin one, and what waits until it is on the disk. */
export type Means = { readonly write: Write; readonly soon: Soon; readonly flush: () => Promise<void> }

/** How to write together with others. */
export type GroupCommit = {
  /** Resolves once `work` was done inside a transaction that is on the disk. */
  write<T>(work: () => T): Promise<T>
  /** Resolves once all that was written by now is on the disk. */
  flushed(): Promise<void>
}

type Waiting = {
  /** Does the work, inside a transaction; the answer tells its writer once that is on the disk. */
  work(): () => void
  fail(error: unknown): void
}

/** What was committed, and is to be told. */
type Written = { readonly tell: () => void; readonly fail: (error: unknown) => void }

/** Gathers work, and does it by one `write` after another. */
export function groupCommit({ write, soon, flush }: Means): GroupCommit {
  let waiting: Waiting[] = []
  let isBusy = false
  let flushing: Promise<void> = Promise.resolve()

  const attempt = (all: readonly Waiting[]): readonly Written[] => {
    try {
      const told = write(() => all.map(({ work }) => work()))
      return told.map((tell, at) => ({ tell, fail: (error) => all[at]?.fail(error) }))
    } catch (error) {
      // One that fails undoes all of them, so each is then tried alone; but after a broken disk nothing is tried.
      if (all.length > 1 && !(error instanceof StoreBroken)) return all.flatMap((one) => attempt([one]))
      for (const { fail } of all) fail(error)
      return []
    }
  }
  const turn = async () => {
    const all = waiting
    waiting = []
    const written = attempt(all)
    try {
      if (written.length > 0) await (flushing = flush())
      for (const { tell } of written) tell()
    } catch (error) {
      for (const { fail } of [...written, ...waiting]) fail(error)
      waiting = []
    }
    isBusy = waiting.length > 0
    if (isBusy) soon(() => void turn())
  }
  return {
    write: (work) =>
      new Promise((resolve, reject) => {
        const run = () => {
          const value = work()
          return () => resolve(value)
        }
        waiting.push({ work: run, fail: reject })
        if (isBusy) return
        isBusy = true
        soon(() => void turn())
      }),
    flushed: () => flushing,
  }
}
