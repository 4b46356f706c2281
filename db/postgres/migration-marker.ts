/** The note that a wall has moved away: a comment on its table `wall`, so that no wall starts there by mistake. */

import { CannotOpen } from '../cannot-open.ts'
import type { Session } from './pool.ts'

/** The error message for a process that still writes after the wall has moved away. */
export const MOVED = 'the wall has moved out of this database'

/** Selects the note as the column `note`; returns no row if the wall has not moved. */
export const NOTE = `
  SELECT description AS note FROM pg_description
  WHERE objoid = 'wall'::regclass AND classoid = 'pg_class'::regclass AND objsubid = 0 AND description LIKE 'has moved to %'`

/** Throws `CannotOpen` if the wall in the database has moved away. */
export async function ensureNotMoved({ queryRows }: Session): Promise<void> {
  const [left] = await queryRows<{ note: string }>(NOTE)
  if (left === undefined) return
  throw new CannotOpen(
    `the wall in the database ${left.note}: use that location in the settings. Return to this database only if nothing was sold at the new location: run COMMENT ON TABLE wall IS NULL`,
  )
}

/** Writes the note that the wall is elsewhere, as part of the current transaction. */
export async function writeMovedNote({ run }: Session, words: string): Promise<void> {
  await run(`COMMENT ON TABLE wall IS '${words.replaceAll("'", "''")}'`)
}

/** Removes the note. */
export async function removeMovedNote({ run }: Session): Promise<void> {
  await run('COMMENT ON TABLE wall IS NULL')
}
