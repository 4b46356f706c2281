import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { openPostgres } from '../../../../db/postgres/open.ts'
import { sellBlock } from '../../../support/engine.ts'
import { createTestEdit, NOW, TERMS } from '../../../support/samples.ts'
import { waitFor } from '../../../support/wait.ts'
import { openPostgresWalls } from './walls.ts'

// Goal: the cost of a purchase and a repaint does not grow with the wall, although each connection plans a statement
// only once, possibly on an empty wall. Method: the server counts the rows that it reads without an index.

const { createWall } = openPostgresWalls()

const SALES = 20

const READ = `
  SELECT relname AS name, seq_tup_read::int AS scanned, n_tup_ins::int AS written FROM pg_stat_user_tables
  WHERE relname IN ('payments', 'changes', 'blocks', 'agents') ORDER BY relname`

test('statements that were planned on an empty wall find their rows by an index as the wall fills', async () => {
  const url = await createWall()
  await using sql = new SQL(url, { max: 1 })
  const readCounts = async (): Promise<{ name: string; scanned: number; written: number }[]> => await sql.unsafe(READ)
  const before = await readCounts()
  const wall = await openPostgres(url, TERMS.network)
  for (let payer = 1; payer <= SALES; payer++) {
    const { block } = await sellBlock(wall, 'next', payer, payer)
    await wall.blocks.edit(block, createTestEdit(payer, { message: 'repainted' }), NOW)
  }
  await wall.close()
  // A connection reports its counts when it ends.
  const after = await waitFor(async () => {
    const counts = await readCounts()
    return counts.find(({ name }) => name === 'changes')?.written === 2 * SALES ? counts : undefined
  })
  const scanned = after.map(({ name, scanned: rows }, at) => ({ name, rows: rows - (before[at]?.scanned ?? 0) }))
  expect(scanned.filter(({ rows }) => rows > 0)).toEqual([])
})
