/** The note on a database whose wall has moved away, so that no wall starts on what is left by mistake: a comment. */

import { CannotOpen } from '../cannot-open.ts'
import type { Session } from './pool.ts'

/** Throws `CannotOpen` when the wall in the database has moved away. */
export async function ensureStayed({ rows }: Session): Promise<void> {
  const [table] = await rows<{ note: string | null }>(`SELECT obj_description('wall'::regclass, 'pg_class') AS note`)
  if (table?.note?.startsWith('has moved to ') !== true) return
  throw new CannotOpen(
    `the wall in the database ${table.note}: name that place in the settings. Only if nothing was sold there, run COMMENT ON TABLE wall IS NULL`,
  )
}

/** Notes that the wall is at another place from now on; part of the transaction under way. */
export async function noteMoved({ run }: Session, words: string): Promise<void> {
  await run(`COMMENT ON TABLE wall IS '${words.replaceAll("'", "''")}'`)
}
