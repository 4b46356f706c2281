/** A new file that appears under its name only once it is complete and flushed. */

import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { CannotOpen } from './cannot-open.ts'

const OWNER_ONLY = 0o600

/**
 * Lets `make` write a file that only its owner may read, then renames it to `file`. Throws `CannotOpen` if `file`
 * exists or cannot be written.
 */
export function writeNewFile(file: string, make: (unfinished: string) => void): void {
  if (existsSync(file)) throw new CannotOpen(`${file} already exists; a backup never replaces a file`)
  const unfinished = `${file}.unfinished`
  rmSync(unfinished, { force: true })
  try {
    closeSync(openSync(unfinished, 'w', OWNER_ONLY))
    make(unfinished)
    flush(unfinished)
    renameSync(unfinished, file)
    flush(dirname(file))
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw isFileError(error) ? new CannotOpen(`the backup failed: cannot write ${file} (${error.code})`) : error
  }
}

const isFileError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error && 'syscall' in error

/** Flushes a file, or the names in a folder, to the disk. */
export function flush(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
