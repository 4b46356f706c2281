/** The log made shorter: which repaints there are, and the removal of those that later ones replace. */

import type { LogCompaction, OutlinedEntry } from '../../server/ports.ts'
import { count, rows, type Driver } from '../tx.ts'

const OUTLINE = `
  SELECT number, at, CASE WHEN kind = 'repaint' AND NOT {damaged changes number} THEN block END AS repainted
  FROM changes WHERE number > $after ORDER BY number LIMIT $limit`
const DROP = 'DELETE FROM changes WHERE number {in bigint $numbers}'

/** The compaction of a store's log. */
export const compaction = ({ look, write }: Driver): LogCompaction => ({
  outline: (after, limit) => look(() => rows<OutlinedEntry>(OUTLINE, { after, limit })),
  drop: async (numbers) => void (await write(null, () => count(DROP, { numbers }))),
})
