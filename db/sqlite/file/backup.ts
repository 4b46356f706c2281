/** A copy of a database while its owner goes on working. */

import { Database } from 'bun:sqlite'
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { CannotOpen } from '../../cannot-open.ts'
import { troubleOf } from '../errors.ts'
import { makePrivate } from './private-file.ts'

/**
 * Copies the database at `path` to a new file, as it was at one moment, and returns once the copy is on the disk and
 * found whole. Throws `CannotOpen` when that cannot be.
 */
export function backUp(path: string, file: string): void {
  if (!existsSync(path)) throw new CannotOpen(`there is no database at ${path}`)
  if (existsSync(file)) throw new CannotOpen(`${file} already exists; a backup never replaces a file`)
  const unfinished = `${file}.unfinished`
  rmSync(unfinished, { force: true })
  try {
    makePrivate(unfinished)
    copy(path, unfinished)
    flush(unfinished)
    renameSync(unfinished, file)
    flush(dirname(file))
  } catch (error) {
    rmSync(unfinished, { force: true })
    const trouble = troubleOf(error)
    throw trouble === undefined ? error : new CannotOpen(`the backup failed: ${trouble}`)
  }
}

function copy(path: string, file: string): void {
  using source = new Database(path, { readonly: true, strict: true })
  // The owner's checkpoints hold locks for moments.
  source.run('PRAGMA busy_timeout = 5000')
  source.prepare('VACUUM INTO $file').run({ file })
  using made = new Database(file, { readonly: true })
  const check = made.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()
  if (check?.integrity_check !== 'ok') throw new CannotOpen('the copy is damaged, and the database may be damaged too')
}

/** Waits until a file, or the names in a folder, are on the disk. */
export function flush(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
