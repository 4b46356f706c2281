/** Files that hold payments and their signatures are their owner's alone: nobody else of the machine reads them. */

import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'

const OWNER_ONLY = 0o600

/**
 * Makes sure that `path` is there and that only its owner may open it; SQLite gives the files beside it the same mode.
 * To be called before the file is opened: closing a second handle would let go of the first one's locks.
 */
export function makePrivate(path: string): void {
  try {
    // Those beside it keep the mode that an older version gave them.
    for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, OWNER_ONLY)
    if (!existsSync(path)) closeSync(openSync(path, 'a', OWNER_ONLY))
  } catch {
    // Another user's file, or none that can be made: whoever opens it next says so.
  }
}
