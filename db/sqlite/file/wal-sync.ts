/**
 * The disk below a database. If a commit waited for the disk, it would block, for a few milliseconds, the one thread
 * that serves all requests. So writes that can wait a moment are committed to the write-ahead log, and another thread
 * flushes it.
 */

import { closeSync, fdatasync, openSync, realpathSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Soon } from './group-commit.ts'

/** When a group commit starts, and how it is flushed. */
export type Disk = {
  readonly soon: Soon
  /** Resolves when everything committed before the call is flushed; absent if there is no disk. */
  readonly flush?: () => Promise<void>
  close(): void
}

const flushFile = promisify(fdatasync)

/** The disk of the database at `path` (or `:memory:`). */
export function createDisk(path: string): Disk {
  // Without a disk, there is no flush to wait for, so only writers in the same turn of the event loop share a commit.
  if (path === ':memory:') return { soon: queueMicrotask, close: () => {} }
  // The log exists from the first write on, and is the same file as long as the database is open.
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
