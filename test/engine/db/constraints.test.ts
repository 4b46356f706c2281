import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { SQL } from 'bun'
import { openPostgres } from '../../../db/postgres/open.ts'
import { openSqlite } from '../../../db/sqlite/open.ts'
import { CLAIM_ORDER } from '../../../shared/wall.ts'
import { connectToBlankWall } from '../../support/blank-wall.ts'
import { catchFailure, reserveTarget, sellBlock, type Engine } from '../../support/engine.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  createTestListing,
  NOW,
  createTestPayment,
  TERMS,
  createWalletAddress,
} from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'
import { openPostgresWalls } from './postgres/walls.ts'

// Goal: the tables themselves reject impossible states. Method: SQL written by hand, without the ports.

const path = join(createScratchFolder(), 'wall.sqlite')
const { createWall: newWall } = openPostgresWalls()
let file: Database
let server: SQL
beforeAll(async () => {
  const url = await newWall()
  for (const wall of [await openSqlite(path, TERMS.network), await openPostgres(url, TERMS.network)]) {
    await writeHistory(wall)
    await wall.close()
  }
  file = new Database(path)
  file.run('PRAGMA foreign_keys = ON')
  server = new SQL(url, { max: 1, bigint: false })
}, 30_000)
afterAll(async () => {
  file.close()
  await server.close()
})

/**
 * Makes two sales (blocks 3,4 and 5,6) to wallets that name painters, repaints the first block, and holds a third
 * (7,8).
 */
async function writeHistory(wall: Omit<Engine, 'close'>) {
  await sellBlock(wall, '3,4', 1, 1)
  await sellBlock(wall, '5,6', 2, 2, createTestListing({ painter: createWalletAddress(9) }))
  await wall.agents.namePainter(createWalletAddress(1), { painter: createWalletAddress(8), ts: NOW })
  await wall.blocks.edit(parseBlockOrThrow('3,4'), createTestEdit(1, { message: 'x' }), NOW)
  await reserveTarget(wall, parseBlockOrThrow('7,8'), createTestPayment(3, 3))
}

test('SQL and TypeScript agree on the order of sale, on both engines', async () => {
  const text = 'SELECT i, rank FROM blocks ORDER BY rank'
  const ordered: unknown[][] = CLAIM_ORDER.map((block, rank) => [block, rank])
  expect(file.query<never, []>(text).values()).toEqual(ordered as never)
  expect(await server.unsafe(text).values()).toEqual(ordered)
})

test('a SQLite connection syncs each commit, and enforces foreign keys', () => {
  const wall = connectToBlankWall()
  const readPragma = (name: string) => wall.prepare<Record<string, number>>(`PRAGMA ${name}`).all({})
  expect([readPragma('synchronous'), readPragma('foreign_keys')]).toEqual([[{ synchronous: 2 }], [{ foreign_keys: 1 }]])
  wall.close()
})

const first = parseBlockOrThrow('3,4')
const held = parseBlockOrThrow('7,8')
const createEntrySql = (values: string) =>
  `INSERT INTO changes (number, at, kind, block, seq, agent) VALUES (${values})`

type Refused = [what: string, sql: string]

const REFUSED: readonly Refused[] = [
  ['sell a held block to a second payer', `UPDATE payments SET block = ${held} WHERE id = 1`],
  ['hold a sold block for a second payer', `UPDATE payments SET block = ${first} WHERE id = 3`],
  ['name another painter for a purchase', `UPDATE purchase_painters SET painter = '${createWalletAddress(7)}'`],
  ['replace the painter entry of a wallet with an older entry', 'UPDATE wallet_painters SET ts = ts - 1'],
  ['give a claimed block to another agent', `UPDATE blocks SET agent = 2 WHERE i = ${first}`],
  ['give a claimed block to another payment', `UPDATE blocks SET payment = 3 WHERE i = ${first}`],
  ['open a claimed block', `UPDATE blocks SET state = 'open', payment = NULL, agent = NULL WHERE i = ${first}`],
  ['claim a block without a payment', `UPDATE blocks SET state = 'claimed', agent = 1 WHERE i = 1`],
  ['paint a block without an owner', `UPDATE blocks SET message = 'x' WHERE i = 1`],
  ['add a block', 'INSERT INTO blocks (i, rank) VALUES (14400, 14400)'],
  ['undo a sale', `UPDATE payments SET state = 'released', seq = NULL, tx = NULL, claimed_at = NULL WHERE id = 1`],
  ['renumber a sale', 'UPDATE payments SET seq = 9 WHERE id = 1'],
  [
    'use a nonce twice',
    `UPDATE payments SET payer = '${createWalletAddress(1)}', nonce = '${createTestPayment(1, 1).nonce}' WHERE id = 3`,
  ],
  ['delete a payment', 'DELETE FROM payments WHERE id = 3'],
  ['sell without a transaction', `UPDATE payments SET state = 'sold', seq = 1, claimed_at = 1 WHERE id = 3`],
  ['mark a sale as uncertain', 'UPDATE payments SET uncertain = 1 WHERE id = 1'],
  ['mark a held purchase as settled', 'UPDATE payments SET settled = 1 WHERE id = 3'],
  ['rewrite the log', `UPDATE changes SET message = 'y' WHERE number = 3`],
  ['shorten the log', 'DELETE FROM changes WHERE number = 3'],
  ['leave a gap in the log', createEntrySql(`5, 1, 'repaint', ${first}, NULL, NULL`)],
  ['leave a gap in the sales', createEntrySql(`4, 1, 'sale', 1, 4, 1`)],
  ['log a second sale of a block', createEntrySql(`4, 1, 'sale', ${first}, 3, 1`)],
  ['store a payment for a block outside the wall', 'UPDATE payments SET block = 14400 WHERE id = 3'],
  ['add a second network', `INSERT INTO wall (only_row, network) VALUES (2, 'eip155:1')`],
]

const ONLY_IN_SQLITE: readonly Refused[] = [
  ['replace an entry of the log', `INSERT OR REPLACE INTO changes (number, at, kind) VALUES (3, 1, 'repaint')`],
  ['store half a picture for a block', `UPDATE blocks SET pixels = zeroblob(50) WHERE i = ${first}`],
  ['store text as an amount', `UPDATE payments SET amount = 'much' WHERE id = 3`],
]

const ONLY_IN_POSTGRES: readonly Refused[] = [
  ['delete a block', 'DELETE FROM blocks WHERE i = 1'],
  ['empty the log', 'TRUNCATE changes CASCADE'],
  ['store half a picture for a block', `UPDATE blocks SET pixels = '\\x00' WHERE i = ${first}`],
]

describe('hand-written SQL cannot', () => {
  test.each([...REFUSED, ...ONLY_IN_SQLITE])('in SQLite, hand-written SQL cannot %s', (_, sql) => {
    expect(() => file.run(sql)).toThrow(
      /constraint failed|stays|final|whole|remembered|append-only|gaps|once|older|cannot store/,
    )
  })

  test.each([...REFUSED, ...ONLY_IN_POSTGRES])('in PostgreSQL, hand-written SQL cannot %s', async (_, sql) => {
    expect(await catchFailure(server.unsafe(sql))).toMatchObject({ errno: expect.stringMatching(/^23/) })
  })
})
