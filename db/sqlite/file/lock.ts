/**
 * The owner of a database: the process that holds the lock file next to it. However the process ends, the lock is
 * released.
 */

import { Database } from 'bun:sqlite'
import { existsSync, realpathSync } from 'node:fs'
import { CannotOpen } from '../../cannot-open.ts'
import { DatabaseInUse, getFailureCode } from '../errors.ts'
import { makePrivate } from './private-file.ts'

// A process that is being replaced needs some time to finish its requests.
const TIMEOUT_MS = 5000

const RETRY_MS = 50

// Without a reference, a handle would be garbage-collected and its lock released.
const held = new Set<Database>()

/**
 * Takes the lock of the database at `path`, and waits if another process has it; returns a function that releases it.
 * Throws `DatabaseInUse` when the time is up, `CannotOpen` if no lock file can be created.
 */
export async function lockDatabase(path: string, timeoutMs = TIMEOUT_MS): Promise<() => void> {
  const lockPath = `${existsSync(path) ? realpathSync(path) : path}.lock`
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const lock = tryLock(lockPath)
    if (lock !== undefined) return () => release(lock)
    if (performance.now() >= deadline)
      throw new DatabaseInUse(`another process is using ${path} (it holds ${lockPath}); stop it first`)
    await Bun.sleep(RETRY_MS)
  }
}

/** Tries to take the lock; returns `undefined` while another process holds it. */
function tryLock(lockPath: string): Database | undefined {
  let lock: Database | undefined
  try {
    makePrivate(lockPath)
    lock = new Database(lockPath, { readwrite: true, create: true })
    // Nothing is ever written to the lock file, so the next process has nothing to roll back.
    lock.run('PRAGMA journal_mode = MEMORY')
    lock.run('BEGIN EXCLUSIVE')
    held.add(lock)
    return lock
  } catch (error) {
    lock?.close()
    const trouble = getFailureCode(error)
    if (trouble?.startsWith('SQLITE_BUSY')) return undefined
    throw trouble === undefined ? error : new CannotOpen(`the lock file ${lockPath} cannot be used: ${trouble}`)
  }
}

function release(lock: Database): void {
  if (!held.delete(lock)) return
  lock.close()
}
