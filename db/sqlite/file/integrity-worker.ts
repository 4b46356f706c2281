/** The worker that checks a file in its own thread, while the process that owns the file continues to work. */

import { Database } from 'bun:sqlite'
import { getFailureCode } from '../errors.ts'
import type { RawConnection, Values } from '../raw.ts'
import { inspectDatabase, inspectCurrentState, type Inspection } from './integrity-check.ts'

/**
 * The message of the worker, sent once: the result of the check, or SQLite's code for the reason that it cannot read
 * the file.
 */
export type Inspected = Inspection | { readonly trouble: string }

declare const self: Worker

self.addEventListener('message', ({ data: { path, part } }: MessageEvent<Asked>) =>
  self.postMessage(inspectFile(path, part === 'present' ? inspectCurrentState : inspectDatabase)),
)

/** The request to the worker: to check a part of a file, or all of it. */
export type Asked = { readonly path: string; readonly part: 'present' | 'whole' }

function inspectFile(path: string, look: (connection: RawConnection) => Inspection): Inspected {
  try {
    const db = new Database(path, { readonly: true, strict: true })
    const statements: { finalize(): void }[] = []
    const prepare: RawConnection['prepare'] = <Row, Params extends Values>(sql: string) => {
      const statement = db.prepare<Row, [Params]>(sql)
      statements.push(statement)
      return statement
    }
    try {
      return look({ prepare, run: (sql) => void db.run(sql) })
    } finally {
      // Connections left open would be closed only when the thread ends, and could lock out the file's owner at that
      // moment.
      for (const statement of statements) statement.finalize()
      db.close(true)
    }
  } catch (error) {
    const trouble = getFailureCode(error)
    if (trouble === undefined) throw error
    return { trouble }
  }
}
