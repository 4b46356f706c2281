/** The errors of a database file, in our own words: SQL and values never reach a message. */

import { SQLiteError } from 'bun:sqlite'
import { StoreBroken, StoreUnavailable } from '../../server/domain/failure.ts'
import { CannotOpen, CannotOpenYet } from '../cannot-open.ts'

/** Another process owns the database. */
export class DatabaseInUse extends CannotOpenYet {
  override name = 'DatabaseInUse'
}

// Failures of the file, the disk or a lock, after which SQLite has rolled back or can do so.
const troubles =
  /^SQLITE_(AUTH|BUSY|CANTOPEN|CORRUPT|FULL|INTERRUPT|IOERR|LOCKED|NOLFS|NOMEM|NOTADB|PERM|PROTOCOL|READONLY|SCHEMA)(_|$)/

/** The code of a failure of the file or the disk; `undefined` for every other error. */
export function getFailureCode(error: unknown): string | undefined {
  const code = error instanceof SQLiteError ? error.code : undefined
  return code !== undefined && troubles.test(code) ? code : undefined
}

/** The error for the operator if a file fails before it is open. */
export function createOpenError(path: string, trouble: string): CannotOpen {
  const why = `the database ${path} cannot be used: ${describeErrorCode(trouble)}`
  return DAMAGE.test(trouble) ? new CannotOpen(why) : new CannotOpenYet(why)
}

const DAMAGE = /CORRUPT|NOTADB/

/** Runs code, and throws `CannotOpen` if the file or the disk fails. */
export function runOrRefuseToOpen<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = getFailureCode(error)
    throw code === undefined ? error : createOpenError(path, code)
  }
}

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/FULL/, 'the disk is full'],
  [/READONLY|CANTOPEN|PERM/, 'the file is not writable; check the permissions of the file and its folder'],
  [/BUSY|LOCKED/, 'another program has locked the file'],
  [/IOERR/, 'disk error'],
  [DAMAGE, 'the file is damaged'],
]

const describeErrorCode = (code: string) => {
  const words = WORDS.find(([pattern]) => pattern.test(code))?.[1]
  return words === undefined ? code : `${words} (${code})`
}

/** The exception for an error before commit: failures become `StoreUnavailable`, any other error stays as it is. */
export function toErrorBeforeCommit(error: unknown): unknown {
  const trouble = getFailureCode(error)
  return trouble === undefined ? error : new StoreUnavailable(`the database failed: ${describeErrorCode(trouble)}`)
}

/** The exception for an error during the commit: after a disk error, only the next start shows what was saved. */
export function toErrorAtCommit(error: unknown): unknown {
  const trouble = getFailureCode(error)
  if (trouble?.startsWith('SQLITE_IOERR')) return new StoreBroken(`the disk failed at commit: ${trouble}`)
  return toErrorBeforeCommit(error)
}
