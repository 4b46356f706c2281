/** Checks the tables of the database directly, without the wall. */

import { Database as File } from 'bun:sqlite'
import { SQL } from 'bun'
import type { Database } from './keeper.ts'

/** Problems of the tables, in words. */
export async function checkTables({ DATABASE_PATH: path, DATABASE_URL: url }: Database): Promise<readonly string[]> {
  if (path !== undefined) return checkFile(path)
  if (url === undefined) return []
  const wrong = await queryRows<{ words: string }>(url, WRONG)
  return [...wrong.map(({ words }) => words), ...describeWrongHoldings(await queryRows<Holding>(url, HOLDINGS))]
}

function checkFile(path: string): readonly string[] {
  using database = new File(path, { readonly: true })
  const rows = database.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all()
  return [
    ...rows.flatMap(({ integrity_check }) => (integrity_check === 'ok' ? [] : [integrity_check])),
    ...describeWrongHoldings(database.query<Holding, []>(HOLDINGS).all()),
  ]
}

type Holding = { readonly size: string; readonly state: string; readonly blocks: number }

// The same SQL for both engines.
const HOLDINGS = `
  SELECT size, state, CAST((SELECT count(*) FROM blocks WHERE payment = p.id) AS INTEGER) AS blocks FROM payments AS p`

/** Checks that a held or sold purchase has all blocks of its area, and that any other purchase has none. */
function describeWrongHoldings(holdings: readonly Holding[]): string[] {
  return holdings.flatMap(({ size, state, blocks }) => {
    const [w, h] = size.split('x').map(Number)
    const all = state === 'reserved' || state === 'sold' ? (w ?? 0) * (h ?? 0) : 0
    return blocks === all ? [] : [`a ${state} payment for ${size} has ${blocks} blocks`]
  })
}

// Facts that are stored more than once must agree, and numbers must have no gaps.
const BLOCKS = `split_part(size, 'x', 1)::integer * split_part(size, 'x', 2)::integer`

const WRONG = `
  WITH counted AS (
    SELECT (SELECT coalesce(sum(${BLOCKS}), 0) FROM payments WHERE state = 'sold') AS sold,
      (SELECT coalesce(sum(${BLOCKS}), 0) FROM payments WHERE state = 'reserved') AS held,
      (SELECT count(*) FROM blocks WHERE state = 'claimed') AS claimed,
      (SELECT count(*) FROM blocks WHERE state = 'reserved') AS reserved,
      (SELECT count(*) FROM changes) AS changes,
      (SELECT coalesce(max(number), 0) FROM changes) AS newest,
      (SELECT count(seq) FROM changes) AS sales,
      (SELECT coalesce(max(seq), 0) FROM changes) AS last_sale,
      (SELECT count(*) FROM payments AS p JOIN blocks AS b ON b.payment = p.id
        WHERE p.state = 'sold' AND b.state = 'claimed') AS matched)
  SELECT format('%s sold, %s claimed, %s of them matched', sold, claimed, matched) AS words
    FROM counted WHERE sold <> claimed OR matched <> sold
  UNION ALL SELECT format('%s payments hold %s blocks', held, reserved) FROM counted WHERE held <> reserved
  UNION ALL SELECT format('%s changes up to %s, %s sales up to %s', changes, newest, sales, last_sale)
    FROM counted WHERE changes <> newest OR sales <> last_sale OR sales <> sold
  UNION ALL SELECT format('counters at %s and %s, the log at %s and %s', c.number, c.seq, newest, last_sale)
    FROM counted, counters AS c WHERE c.number <> newest OR c.seq <> last_sale`

/** Cuts every connection that listens for notifications. */
export async function cutListeners({ DATABASE_URL: url }: Database): Promise<void> {
  if (url !== undefined) await queryRows(url, CUT)
}

const CUT = `
  SELECT pg_terminate_backend(pid)::text AS words FROM pg_stat_activity
  WHERE datname = current_database() AND query ILIKE 'listen%'`

async function queryRows<Row>(url: string, text: string): Promise<readonly Row[]> {
  const sql = new SQL(url, { max: 1 })
  try {
    const rows: readonly Row[] = await sql.unsafe(text)
    return rows
  } finally {
    await sql.close()
  }
}
