import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { SQL } from 'bun'
import postgresWall from '../../../db/migrations/0001_wall.postgres.sql' with { type: 'text' }
import sqliteWall from '../../../db/migrations/0001_wall.sqlite.sql' with { type: 'text' }
import unanswered from '../../../db/migrations/0002_unanswered.sql' with { type: 'text' }
import postgresCompaction from '../../../db/migrations/0003_compaction.postgres.sql' with { type: 'text' }
import sqliteCompaction from '../../../db/migrations/0003_compaction.sqlite.sql' with { type: 'text' }
import { openPostgres } from '../../../db/postgres/open.ts'
import type { DamagedRow } from '../../../db/row-checksums.ts'
import { openSqlite } from '../../../db/sqlite/open.ts'
import { reserveTarget, findStoredPurchase, type Engine } from '../../support/engine.ts'
import {
  parseBlockOrThrow,
  toHash,
  NOW,
  createTestPayment,
  SILENT,
  TERMS,
  createWalletAddress,
} from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'
import tables from './before-areas.json'
import { openPostgresWalls } from './postgres/walls.ts'

// Goal: a wall that sold blocks before areas existed keeps its data, and sells areas. Method: rows that the old program
// wrote are inserted, with their checksums, into the old program's tables.

type Value = string | number | { readonly hex: string }
type Rows = readonly Readonly<Record<string, Value | undefined>>[]

const renderSqliteValue = (value: Value) => (typeof value === 'object' ? `x'${value.hex}'` : quoteValue(value))
const renderPostgresValue = (value: Value) => (typeof value === 'object' ? `'\\x${value.hex}'` : quoteValue(value))
const quoteValue = (value: string | number) =>
  typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`

/** Renders the SQL statements that write the old content of the tables. */
function renderStatements(valueOf: (value: Value) => string): string {
  const texts = Object.entries(tables as Readonly<Record<string, Rows>>).flatMap(([table, rows]) =>
    rows.map((row) => {
      const cells = Object.entries(row).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, valueOf(value)]],
      )
      if (table === 'blocks')
        return `UPDATE blocks SET ${cells.map((cell) => cell.join(' = ')).join(', ')} WHERE i = ${valueOf(row['i'] ?? -1)};`
      return `INSERT INTO ${table} (${cells.map(([name]) => name).join(', ')}) VALUES (${cells.map(([, text]) => text).join(', ')});`
    }),
  )
  return texts.join('\n')
}

async function expectToContinue(wall: Engine, damaged: readonly DamagedRow[]): Promise<void> {
  const first = await findStoredPurchase(wall, createTestPayment(1, 1))
  expect(first).toMatchObject({
    target: parseBlockOrThrow('3,4'),
    block: parseBlockOrThrow('3,4'),
    state: { kind: 'sold', tx: toHash(1) },
  })
  expect(first.listing.pixels?.length).toBe(100)
  expect(await findStoredPurchase(wall, createTestPayment(2, 2))).toMatchObject({
    target: 'next',
    state: { kind: 'sold' },
  })
  const held = await findStoredPurchase(wall, createTestPayment(3, 3))
  expect(held).toMatchObject({ target: parseBlockOrThrow('80,45'), state: { kind: 'reserved', uncertain: true } })
  expect(await findStoredPurchase(wall, createTestPayment(4, 4))).toMatchObject({
    target: 'next',
    state: { kind: 'released' },
  })
  expect(await wall.blocks.findOwned(parseBlockOrThrow('3,4'))).toMatchObject({
    wallet: createWalletAddress(1),
    content: { message: 'new' },
  })
  expect((await wall.log.readAfter(0, 9)).map(({ kind }) => kind)).toEqual(['sale', 'sale', 'repaint'])
  await wall.ledger.finalize(held, toHash(3), true, NOW + 9)
  const area = await reserveTarget(wall, 'next,3x2', createTestPayment(5, 5), SILENT)
  await wall.ledger.finalize(area, toHash(5), true, NOW + 9)
  const sales = (await wall.log.readAfter(3, 99)).map((change) => 'seq' in change && change.seq)
  expect(sales).toEqual([3, 4, 5, 6, 7, 8, 9])
  expect(
    await wall.ledger.fulfilLatePayment(await findStoredPurchase(wall, createTestPayment(4, 4)), toHash(4), NOW),
  ).toMatchObject({
    state: { kind: 'sold' },
  })
  expect(damaged).toEqual([])
}

describe('a database from before areas existed', () => {
  const folder = createScratchFolder()
  const { getServer } = openPostgresWalls()

  test('a SQLite database from before areas existed is migrated, and its wall sells areas', async () => {
    const path = join(folder, 'old.sqlite')
    const db = new Database(path)
    db.run(
      `${sqliteWall}; ${unanswered}; ${sqliteCompaction}; PRAGMA user_version = 3; ${renderStatements(renderSqliteValue)}`,
    )
    db.close()
    for (let opened = 1; opened <= 2; opened++) {
      const damaged: DamagedRow[] = []
      const wall = await openSqlite(path, TERMS.network, { onDamaged: (row) => damaged.push(row) })
      if (opened === 1) await expectToContinue(wall, damaged)
      expect([await wall.log.readAfter(0, 99).then(({ length }) => length), damaged]).toEqual([11, []])
      wall.close()
    }
  })

  test('a PostgreSQL database from before areas existed is migrated, and its wall sells areas', async () => {
    const url = getServer().getUrl(await getServer().createDatabase())
    const sql = new SQL(url, { max: 1 })
    await sql
      .unsafe(`
      CREATE TABLE migrations (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
      INSERT INTO migrations (version) VALUES (1), (2), (3);
      ${postgresWall}; ${unanswered}; ${postgresCompaction};
      SET session_replication_role = replica;
      ${renderStatements(renderPostgresValue)}
      UPDATE counters SET number = 3, seq = 2, agent = 2, at = ${NOW + 5};
      SELECT setval(pg_get_serial_sequence('payments', 'id'), 4)`)
      .simple()
    await sql.close()
    const wall = await openPostgres(url, TERMS.network)
    await expectToContinue(wall, [])
    await wall.close()
  })
})
