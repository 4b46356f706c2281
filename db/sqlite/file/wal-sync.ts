/**
 * The disk below a database. A commit that waits for it holds the one thread that answers everybody, for milliseconds;
 * so those who may wait a moment are committed to the write-ahead log, and that is brought to the disk by another thread.
 */

import { closeSync, fdatasync, openSync, realpathSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Soon } from './group-commit.ts'

/** When those who write together do, and how what they wrote gets to the disk. */
export type Disk = {
  readonly soon: Soon
  /** Resolves when all that was committed before is on the disk; absent where there is nothing to wait for. */
  readonly flush?: () => Promise<void>
  close(): void
}

const flushFile = promisify(fdatasync)

/** The disk that the database at `path` (or `:memory:`) lies on. */
export function diskOf(path: string): Disk {
  // Without a disk nobody comes while it is waited for, so those who come in one turn share a commit.
  if (path === ':memory:') return { soon: queueMicrotask, close: () => {} }
  // The log is there from the first write on, and is the same file for as long as the database is open.
  let file: number | undefined
  let flushing: Promise<void> = Promise.resolve()
  return {
    soon: setImmediate,
    flush() {
      file ??= openSync(`${realpathSync(path)}-wal`, 'r')
      flushing = flushFile(file)
      return flushing
    },
    close() {
      const close = () => (file === undefined ? undefined : closeSync(file))
      flushing.then(close, close)
    },
  }
}
