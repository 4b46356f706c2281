/** Many writers, one commit: writes requested during a commit are stored after it, in one transaction. */

import { setImmediate } from 'node:timers/promises'
import { StoreUnavailable } from '../../server/domain/failure.ts'
import type { Lockable, Tx } from '../tx.ts'

/** Work, and the objects that must be locked for it. */
export type Write<T> = { readonly about: readonly Lockable[]; readonly work: () => Tx<T> }

/**
 * The two kinds of transaction that a group commit needs. Except for `CommitUnknown`, any exception means that nothing
 * was stored.
 */
export type Means = {
  /** A transaction for one write, which waits for locks that others hold. */
  commitAlone<T>(write: Write<T>): Promise<T>
  /**
   * A transaction for several writes. It does not wait for locks that others hold: a write that needs one is left out,
   * as `undefined`.
   */
  commitTogether<T>(writes: readonly Write<T>[]): Promise<readonly (T | undefined)[]>
}

/** A write that has not begun; its work returns the function that responds to its writer. */
type Waiting = Write<() => void> & { readonly fail: (error: unknown) => void }

// A group of this size takes a few hundredths of a second.
const GROUP_MAX = 64

/**
 * Returns a function that writes together with all other writes that are waiting at the next turn of the event loop.
 * Only one group is in progress at a time: a second one would only wait for the counters of the log, and would split the
 * writers into smaller groups. A group never contains two writes to the same object. If a write is retried alone, the
 * database's locks separate it from the others.
 */
export function createGroupCommit({ commitAlone, commitTogether }: Means): Means['commitAlone'] {
  const waiting = new Set<Waiting>()
  let isWriting = false
  const takeGroup = (): readonly Waiting[] => {
    const group: Waiting[] = []
    const taken = new Set<Lockable>()
    for (const write of waiting) {
      if (group.length === GROUP_MAX) break
      if (write.about.some((one) => taken.has(one))) continue
      for (const one of write.about) taken.add(one)
      waiting.delete(write)
      group.push(write)
    }
    return group
  }
  const writeAlone = async (write: Waiting) => {
    try {
      const respond = await commitAlone(write)
      respond()
    } catch (error) {
      write.fail(error)
    }
  }
  const writeGroup = async (group: readonly Waiting[]) => {
    try {
      const responses = await commitTogether(group)
      for (const [at, write] of group.entries()) {
        const respond = responses[at]
        if (respond === undefined) void writeAlone(write)
        else respond()
      }
    } catch (error) {
      // One failed write rolls back the whole group. Writes that may have been stored are not retried.
      for (const write of group)
        if (error instanceof StoreUnavailable) write.fail(error)
        else void writeAlone(write)
    }
  }
  const writeAll = async () => {
    isWriting = true
    while (waiting.size > 0) {
      // All writers that the last commit answered can write again before the next group is taken. Otherwise, the first
      // of them would get a commit of its own, and the rest would wait for two commits.
      await setImmediate()
      await writeGroup(takeGroup())
    }
    isWriting = false
  }
  return ({ about, work }) =>
    new Promise((resolve, reject) => {
      waiting.add({
        about,
        fail: reject,
        *work() {
          const result = yield* work()
          return () => resolve(result)
        },
      })
      if (!isWriting) void writeAll()
    })
}
