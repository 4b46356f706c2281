/** Group commit: writes that arrive during a flush share the next commit. */

import { StoreBroken } from '../../../server/domain/failure.ts'

/** Runs a function a little later. */
export type Soon = (work: () => void) => void

type Write = <T>(work: () => T) => T

/** The parts of a group commit: a transaction, when to begin one, and the wait for the flush. */
export type Means = { readonly write: Write; readonly soon: Soon; readonly flush: () => Promise<void> }

/** A group commit. */
export type GroupCommit = {
  /** Runs `work` inside a transaction; resolves to its result once that transaction is flushed. */
  write<T>(work: () => T): Promise<T>
  /** Resolves once everything written so far is flushed. */
  waitUntilFlushed(): Promise<void>
}

type Waiting = {
  /** Runs the work inside a transaction; the returned function notifies its writer after the flush. */
  run(): () => void
  fail(error: unknown): void
}

/** A committed write whose writer must be notified. */
type Written = { readonly respond: () => void; readonly fail: (error: unknown) => void }

/** Collects work, and runs it in one `write` after another. */
export function createGroupCommit({ write, soon, flush }: Means): GroupCommit {
  let waiting: Waiting[] = []
  let isBusy = false
  let flushing: Promise<void> = Promise.resolve()

  const commitAll = (all: readonly Waiting[]): readonly Written[] => {
    try {
      const responses = write(() => all.map((one) => one.run()))
      return responses.map((respond, at) => ({ respond, fail: (error) => all[at]?.fail(error) }))
    } catch (error) {
      // A failure rolls back all writes, so each is then retried alone. After a disk failure, nothing is retried.
      if (all.length > 1 && !(error instanceof StoreBroken)) return all.flatMap((one) => commitAll([one]))
      for (const { fail } of all) fail(error)
      return []
    }
  }
  const commitWaiting = async () => {
    const all = waiting
    waiting = []
    const written = commitAll(all)
    try {
      if (written.length > 0) await (flushing = flush())
      for (const { respond } of written) respond()
    } catch (error) {
      for (const { fail } of [...written, ...waiting]) fail(error)
      waiting = []
    }
    isBusy = waiting.length > 0
    if (isBusy) soon(() => void commitWaiting())
  }
  return {
    write: (work) =>
      new Promise((resolve, reject) => {
        const run = () => {
          const value = work()
          return () => resolve(value)
        }
        waiting.push({ run, fail: reject })
        if (isBusy) return
        isBusy = true
        soon(() => void commitWaiting())
      }),
    waitUntilFlushed: () => flushing,
  }
}
