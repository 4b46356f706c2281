/** Reads the append-only log for followers, without its damaged rows. */

import type { Change, LogNumber } from '../../server/domain/wall/log.ts'
import { omitHiddenParts } from '../../server/domain/wall/moderation.ts'
import type { Log } from '../../server/ports.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { toHiddenParts } from '../rows.ts'
import { toChange, type ChangeRow } from '../wall/log.ts'
import { type ModeratedAgent, omitModeratedNames } from '../wall/moderated-agents.ts'
import type { Connection } from './connection.ts'
import { renderLatestCondition } from './latest-changes.ts'
import { renderDamagedCondition } from './row-checksums.ts'

// If an agent's row is damaged, the wallet of a sale is read from its payment, which the block still references. If the
// agent's row is intact, this look-up is skipped, because readers read the newest entries after each write.
const SELECT_CHANGE = `
  SELECT number, at, kind, changes.seq, changes.block, agent, hidden, changes.name, changes.framework, changes.pixels,
    changes.message, changes.link, CASE WHEN ${renderDamagedCondition('agents', 'agents.id')}
      THEN (SELECT payer FROM payments JOIN blocks ON blocks.payment = payments.id
        WHERE blocks.i = changes.block AND changes.kind = 'sale')
      ELSE agents.wallet END AS wallet
  FROM changes LEFT JOIN agents ON agents.id = agent
  WHERE NOT ${renderDamagedCondition('changes', 'number')}`

// Other tables still contain the values of a damaged entry, except possibly the wallet's name at the time of a sale.
const RETOLD_SALES = `
  SELECT c.number, p.claimed_at, 'sale', s.seq, b.i, b.agent, NULL, iif(a.changed = c.number, a.name, p.name),
    iif(a.changed = c.number, a.framework, p.framework), substr(p.pixels, 100 * (s.seq - p.seq) + 1, 100), p.message, p.link, p.payer
  FROM payments AS p JOIN sales AS s ON s.payment = p.id JOIN changes AS c ON c.seq = s.seq JOIN blocks AS b ON b.i = s.block JOIN agents AS a ON a.id = b.agent
  WHERE ${renderDamagedCondition('changes', 'c.number')} AND NOT ${renderDamagedCondition('payments', 'p.id')} AND NOT ${renderDamagedCondition('blocks', 'b.i')}`
const RETOLD_REPAINTS = `
  SELECT changed, 0, 'repaint', NULL, i, NULL, NULL, NULL, NULL, pixels, message, link, NULL
  FROM blocks WHERE ${renderDamagedCondition('changes', 'changed')} AND NOT ${renderDamagedCondition('blocks', 'i')}`
const RETOLD_IDENTITIES = `
  SELECT changed, 0, 'identity', NULL, NULL, id, NULL, name, framework, NULL, NULL, NULL, NULL
  FROM agents WHERE ${renderDamagedCondition('changes', 'changed')} AND NOT ${renderDamagedCondition('agents', 'id')}`

/** The log as readers follow it. Until `isChecked` returns true, each entry is checked as it is read. */
export function createSqliteLog(connection: Connection, isChecked = () => true): Log {
  // Without the CAST of the limit, SQLite would plan the statement again each time: 15 us instead of 2 after every
  // commit.
  const after = connection.prepare<ChangeRow, { after: number; limit: number }>(
    `${SELECT_CHANGE} AND number > $after ORDER BY number LIMIT CAST($limit AS integer)`,
  )
  // This runs at each start and need not handle damage, so each row is looked up only once.
  const latest = connection.prepare<ChangeRow>(`
    SELECT number, at, kind, seq, block, agent, hidden, name, framework, pixels, message, link,
      (SELECT wallet FROM agents WHERE id = agent) AS wallet
    FROM changes WHERE ${renderLatestCondition('number')} ORDER BY number`)
  const spared = connection.prepare<ChangeRow>(`
    SELECT * FROM (
      SELECT * FROM (${SELECT_CHANGE})
      UNION ALL ${RETOLD_SALES}
      UNION ALL ${RETOLD_REPAINTS} AND changed NOT IN (SELECT number FROM (${RETOLD_SALES}))
      UNION ALL ${RETOLD_IDENTITIES} AND changed NOT IN (SELECT number FROM (${RETOLD_SALES})))
    ORDER BY number`)
  // Content that is hidden now is hidden in every entry, in case the entry that hid it is damaged.
  const hidings = connection.prepare<Hiding, { after: number }>(`
    SELECT number, block, hidden FROM changes WHERE hidden IS NOT NULL AND number > $after
    UNION ALL SELECT NULL, block, hidden FROM moderated`)
  const moderated = connection.prepare<ModeratedAgent>(
    'SELECT agent, hidden, ever, through, banned FROM moderated_agents',
  )
  const toVisibleChanges = (rows: readonly ChangeRow[], after: number) =>
    omitModeratedNames(omitHiddenContent(rows.map(toChange), hidings.all({ after })), moderated.all({}))
  return {
    async readAfter(number, limit) {
      // Publishes a change only after it is flushed; otherwise, a power cut could lose the change, and another change
      // would get its number.
      await connection.waitUntilFlushed()
      return connection.read(() => {
        const rows = after.all({ after: number, limit })
        if (!isChecked())
          connection.checkRows(
            'changes',
            rows.map((row) => row.number),
          )
        return toVisibleChanges(rows, number)
      })
    },
    readCompacted: async () =>
      connection.read(() => toVisibleChanges((connection.isDamaged() ? spared : latest).all({}), 0)),
  }
}

type Hiding = { readonly number: LogNumber | null; readonly block: BlockIndex; readonly hidden: number }

/** Returns the changes without the content that was hidden after they were written. */
function omitHiddenContent(changes: readonly Change[], hidings: readonly Hiding[]): readonly Change[] {
  if (hidings.length === 0) return changes
  return changes.map((change) => {
    if (change.kind === 'identity') return change
    const later = hidings.filter(
      ({ block, number }) => block === change.block && (number === null || number > change.number),
    )
    const mask = later.reduce((sum, { hidden }) => sum | hidden, 0)
    return mask === 0 ? change : { ...change, content: omitHiddenParts(change.content, toHiddenParts(mask)) }
  })
}
