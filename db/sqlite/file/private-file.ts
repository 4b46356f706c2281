/** Files with payments and their signatures: only their owner may read them. */

import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'

const OWNER_ONLY = 0o600

/**
 * Makes sure that `path` exists and that only its owner may open it; SQLite gives the files beside it the same mode.
 * Must be called before the file is opened: closing a second handle would release the first one's locks.
 */
export function makePrivate(path: string): void {
  try {
    // Files that already exist beside it keep the mode that an older version gave them, so their mode is set, too.
    for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, OWNER_ONLY)
    if (!existsSync(path)) closeSync(openSync(path, 'a', OWNER_ONLY))
  } catch {
    // Another user's file, or one that cannot be created: opening it next reports the error.
  }
}
