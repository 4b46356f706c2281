/** The append-only log, as readers follow it. */

import type { Change } from '../../server/domain/wall/log.ts'
import { omitHiddenParts } from '../../server/domain/wall/moderation.ts'
import type { Log } from '../../server/ports.ts'
import { toHiddenParts } from '../rows.ts'
import { toChange, type ChangeRow } from '../wall/log.ts'
import { type ModeratedAgent, omitModeratedNames } from '../wall/moderated-agents.ts'
import type { Queries } from './pool.ts'

type Row = ChangeRow & { readonly withheld: number }

// Entries omit content that was hidden after they were written, or is hidden now.
const SELECT_CHANGE = `
  SELECT c.*, a.wallet,
    coalesce((SELECT bit_or(h.hidden) FROM changes AS h
      WHERE h.hidden IS NOT NULL AND h.block = c.block AND h.number > c.number), 0)
    | coalesce((SELECT m.hidden FROM moderated AS m WHERE m.block = c.block), 0) AS withheld
  FROM changes AS c LEFT JOIN agents AS a ON a.id = c.agent`

// Blocks and agents store their latest change, so the cost of this query does not depend on the log's older entries.
const LATEST = `
  WHERE c.number IN (
    SELECT number FROM changes WHERE seq > 0
    UNION ALL SELECT number FROM changes WHERE hidden IS NOT NULL
    UNION ALL SELECT changed FROM blocks WHERE state = 'claimed'
    UNION ALL SELECT changed FROM agents
    UNION ALL SELECT through FROM moderated_agents)`

/** The log as readers follow it. `seen` is called with the newest number that was read. */
export function createPostgresLog({ queryRows }: Queries, seen: (number: number) => void = () => {}): Log {
  const toVisibleChange = (row: Row): Change => {
    const change = toChange(row)
    if (change.kind === 'identity' || row.withheld === 0) return change
    return { ...change, content: omitHiddenParts(change.content, toHiddenParts(row.withheld)) }
  }
  // The hidden names are read last, so that names hidden while the entries are read are omitted, too.
  const omitCurrentlyHiddenNames = async (changes: readonly Change[]) =>
    omitModeratedNames(changes, await queryRows<ModeratedAgent>('SELECT * FROM moderated_agents'))
  return {
    async readAfter(number, limit) {
      const found = await queryRows<Row>(`${SELECT_CHANGE} WHERE c.number > $1 ORDER BY c.number LIMIT $2`, [
        number,
        limit,
      ])
      seen(found.at(-1)?.number ?? 0)
      return await omitCurrentlyHiddenNames(found.map(toVisibleChange))
    },
    readCompacted: async () =>
      await omitCurrentlyHiddenNames(
        (await queryRows<Row>(`${SELECT_CHANGE} ${LATEST} ORDER BY c.number`)).map(toVisibleChange),
      ),
  }
}
