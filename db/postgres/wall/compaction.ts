/** The log made shorter: which repaints there are, and the removal of those that later ones replace. */

import type { LogCompaction, OutlinedEntry } from '../../../server/ports.ts'
import type { Connection } from '../connection.ts'

/** The compaction of the log in a database. */
export function postgresCompaction({ rows, transaction }: Connection): LogCompaction {
  return {
    outline: (after, limit) => rows<OutlinedEntry>(OUTLINE, [after, limit]),
    drop: async (numbers) => {
      await transaction(null, ({ write }) => write(DROP, [JSON.stringify(numbers)]))
    },
  }
}

const OUTLINE = `
  SELECT number, at, CASE WHEN kind = 'repaint' THEN block END AS repainted
  FROM changes WHERE number > $1 ORDER BY number LIMIT $2`
const DROP = `
  DELETE FROM changes WHERE number IN (SELECT value::bigint FROM json_array_elements_text($1::text::json))`
