/** The log made shorter: which repaints there are, and the removal of those that later ones replace. */

import type { LogCompaction, OutlinedEntry } from '../../../server/ports.ts'
import type { Connection } from '../connection.ts'
import { isDamaged } from '../row-checksums.ts'

/** The compaction of the log on one connection. */
export function sqliteCompaction(connection: Connection): LogCompaction {
  const outline = connection.prepare<OutlinedEntry, { after: number; limit: number }>(`
    SELECT number, at, iif(kind = 'repaint' AND NOT ${isDamaged('changes', 'number')}, block, NULL) AS repainted
    FROM changes WHERE number > $after ORDER BY number LIMIT $limit`)
  const drop = connection.prepare<unknown, { numbers: string }>(
    'DELETE FROM changes WHERE number IN (SELECT value FROM json_each($numbers))',
  )
  return {
    outline: async (after, limit) => connection.read(() => outline.all({ after, limit })),
    drop: async (numbers) => {
      connection.write(() => drop.run({ numbers: JSON.stringify(numbers) }))
    },
  }
}
