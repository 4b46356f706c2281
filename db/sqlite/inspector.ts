/** The worker that looks through a file while the process that owns it is busy with other things. */

import { Database } from 'bun:sqlite'
import { troubleOf } from './errors.ts'
import { inspect, type Inspection } from './inspection.ts'

/** What the worker answers, once, to the path of a file: what it found, or SQLite's name for what kept it from looking. */
export type Inspected = Inspection | { readonly trouble: string }

declare const self: Worker

self.addEventListener('message', ({ data: path }: MessageEvent<string>) => self.postMessage(inspected(path)))

function inspected(path: string): Inspected {
  try {
    const db = new Database(path, { readonly: true, strict: true })
    try {
      return inspect({ prepare: (sql) => db.prepare(sql), run: (sql) => void db.run(sql) })
    } finally {
      db.close()
    }
  } catch (error) {
    const trouble = troubleOf(error)
    if (trouble === undefined) throw error
    return { trouble }
  }
}
