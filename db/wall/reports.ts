/** Readers' reports of artworks, which only the operator can see. */

import type { UnixMs } from '../../server/domain/purchase/payment.ts'
import {
  OPEN_REPORTS_MAX,
  type OpenReport,
  REPORTS_KEPT_MS,
  REPORTS_OF_A_WORK_MAX,
} from '../../server/domain/wall/reports.ts'
import type { FiledReport, Reports } from '../../server/operator-ports.ts'
import {
  changeRows,
  countChangedRows,
  takeLock,
  queryOne,
  queryRows,
  runTogether,
  type Driver,
  type Tx,
} from '../tx.ts'

/** The reports of a store. */
export const createReports = ({ query, write }: Driver): Reports => ({
  fileReport: (report, key, now) => write(null, () => fileReport(report, key, now)),
  listOpen: () => query(() => queryRows<OpenReport>(OPEN)),
  close: (blocks, { outcome, who, why }, now) =>
    write(null, () => countChangedRows(CLOSE, { blocks, outcome, who, why, now })),
  listUndelivered: (limit) => query(() => queryRows<OpenReport>(UNDELIVERED, { limit })),
  markDelivered: async (id) => void (await write(null, () => countChangedRows(DELIVERED, { id }))),
})

const COLUMNS = 'id, at, work, block, reason, note'
const OPEN = `SELECT ${COLUMNS} FROM reports WHERE closed_at IS NULL ORDER BY id`
const UNDELIVERED = `SELECT ${COLUMNS} FROM reports WHERE closed_at IS NULL AND delivered = 0 ORDER BY id LIMIT $limit`
const DELIVERED = 'UPDATE reports SET delivered = 1 WHERE id = $id'
const CLOSE = `
  UPDATE reports SET closed_at = $now, closed_by = $who, outcome = $outcome, why = $why
  WHERE closed_at IS NULL AND (work {in integer $blocks} OR block {in integer $blocks})`

const KEY = 'SELECT report_key AS key FROM wall'
const NEW_KEY = 'UPDATE wall SET report_key = $key'
const COUNTS = `
  SELECT count(*) AS total, coalesce(sum(CASE WHEN work = $work THEN 1 ELSE 0 END), 0) AS same
  FROM reports WHERE closed_at IS NULL`
const FORGET = 'DELETE FROM reports WHERE closed_at < $before'
const FILE = `
  INSERT INTO reports (id, at, work, block, reason, note, reporter)
  SELECT coalesce(max(id), 0) + 1, $now, $work, $block, $reason, $note, $reporter FROM reports WHERE true
  ON CONFLICT (work, reporter) DO NOTHING`

type Counts = { readonly total: number; readonly same: number }

function* fileReport(
  { work, block, reason, note, reporterFor }: FiledReport,
  { day, fresh }: { readonly day: string; readonly fresh: string },
  now: UnixMs,
): Tx<'filed' | 'known' | 'full'> {
  yield* takeLock('LOCK TABLE reports IN EXCLUSIVE MODE')
  const [{ key: kept }, { total, same }] = yield* runTogether(
    queryOne<{ key: string | null }>(KEY),
    queryOne<Counts>(COUNTS, { work }),
  )
  if (same >= REPORTS_OF_A_WORK_MAX) return 'known'
  if (total >= OPEN_REPORTS_MAX) return 'full'
  // The previous day's key is deleted, so that nobody can find out the address behind a hash made with that key.
  const key = kept?.startsWith(day) === true ? kept : `${day} ${fresh}`
  if (key !== kept) yield* changeRows('the wall’s own row', NEW_KEY, { key })
  yield* countChangedRows(FORGET, { before: now - REPORTS_KEPT_MS })
  const filed = yield* countChangedRows(FILE, { now, work, block, reason, note, reporter: reporterFor(key) })
  return filed === 1 ? 'filed' : 'known'
}
