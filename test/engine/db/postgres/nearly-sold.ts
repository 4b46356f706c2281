/** Fills a wall on PostgreSQL quickly: in four statements instead of 28,800 transactions. */

import { SQL } from 'bun'
import { CLAIM_ORDER } from '../../../../shared/wall.ts'
import { hash, NOW, TERMS, wallet } from '../../../support/samples.ts'

const NOTHING = { name: null, framework: null, pixels: null, message: null, link: null }
const buyer = wallet(0xdecade)

/** Sells all but the last `left` blocks of the order of sale to one wallet that no sample uses. */
export async function sellAllBut(left: number, url: string): Promise<void> {
  const sold = CLAIM_ORDER.slice(0, CLAIM_ORDER.length - left)
  const sql = new SQL(url, { max: 1 })
  const agent = { id: 1, wallet: buyer, name: null, framework: null, first_seen_at: NOW, changed: 1 }
  await sql.begin(async (tx) => {
    await tx.unsafe('SET LOCAL session_replication_role = replica').simple()
    await tx
      .unsafe(`
      ${insertion('agents', [agent])};
      ${insertion(
        'changes',
        sold.map((block, at) => ({
          ...NOTHING,
          number: at + 1,
          at: NOW,
          kind: 'sale',
          seq: at + 1,
          block,
          agent: 1,
          hidden: null,
        })),
      )};
      ${insertion('payments', sold.map(paymentRow))};
      DELETE FROM blocks WHERE rank < ${sold.length};
      ${insertion(
        'blocks',
        sold.map((i, rank) => ({
          i,
          rank,
          state: 'claimed',
          payment: rank + 1,
          agent: 1,
          changed: rank + 1,
          pixels: null,
          message: null,
          link: null,
        })),
      )};
      UPDATE counters SET number = ${sold.length}, seq = ${sold.length}, agent = 1, at = ${NOW};
      SELECT setval(pg_get_serial_sequence('payments', 'id'), ${sold.length})`)
      .simple()
  })
  await sql.close()
}

type Row = Readonly<Record<string, string | number | null>>

const paymentRow = (block: number, at: number): Row => ({
  ...NOTHING,
  id: at + 1,
  payer: buyer,
  nonce: hash(at + 1),
  pay_to: buyer,
  asset: buyer,
  network: TERMS.network,
  scheme: 'exact',
  amount: 1_000_000,
  valid_after: 0,
  valid_before: 1,
  signature: '0x',
  target: null,
  block,
  head: 1,
  created_at: NOW,
  state: 'sold',
  uncertain: 0,
  dead: 0,
  settled: 1,
  looks: 0,
  unanswered: 0,
  tx: hash(at + 1),
  seq: at + 1,
  claimed_at: NOW,
})

function insertion(table: string, rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {})
  const values = rows.map((row) => `(${columns.map((column) => literal(row[column] ?? null)).join(', ')})`)
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${values.join(', ')}`
}

function literal(cell: string | number | null): string {
  if (cell === null) return 'NULL'
  return typeof cell === 'number' ? String(cell) : `'${cell}'`
}
