/** Copies a database while its owner continues to work. */

import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { CannotOpen } from '../../cannot-open.ts'
import { writeNewFile } from '../../new-file.ts'
import { getFailureCode } from '../errors.ts'

/**
 * Makes a consistent copy of the database at `path` in a new file, and returns once the copy is flushed and
 * checked. Throws `CannotOpen` if that fails.
 */
export function backUp(path: string, file: string): void {
  if (!existsSync(path)) throw new CannotOpen(`there is no database at ${path}`)
  writeNewFile(file, (unfinished) => {
    try {
      copyDatabase(path, unfinished)
    } catch (error) {
      const trouble = getFailureCode(error)
      throw trouble === undefined ? error : new CannotOpen(`the backup failed: ${trouble}`)
    }
  })
}

function copyDatabase(path: string, file: string): void {
  using source = new Database(path, { readonly: true, strict: true })
  // The owning process holds locks briefly during checkpoints.
  source.run('PRAGMA busy_timeout = 5000')
  source.prepare('VACUUM INTO $file').run({ file })
  using made = new Database(file, { readonly: true })
  const check = made.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()
  if (check?.integrity_check !== 'ok') throw new CannotOpen('the copy is damaged, and the database may be damaged too')
}
