import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openWall, ports } from '../../../db/sqlite/open.ts'
import { CLAIM_ORDER } from '../../../shared/wall.ts'
import { hold, sell } from '../../support/engine.ts'
import { blockOf, editOf, listingOf, NOW, paymentOf, TERMS, wallet } from '../../support/samples.ts'

// Goal: the tables themselves refuse what must never be. Method: SQL written by hand, past every port.

const connection = openWall(':memory:', TERMS.network)
beforeAll(story)
afterAll(() => connection.close())

const rows = (sql: string) =>
  connection
    .prepare<{ value: number }>(sql)
    .all({})
    .map(({ value }) => value)

/** Two sales (blocks 3,4 and 5,6) to wallets that name painters, a repaint of the first, and a block (7,8) that is held. */
async function story() {
  const engine = ports(connection)
  await sell(engine, '3,4', 1, 1)
  await sell(engine, '5,6', 2, 2, listingOf({ painter: wallet(9) }))
  await engine.agents.namePainter(wallet(1), { painter: wallet(8), ts: NOW })
  await engine.blocks.edit(blockOf('3,4'), editOf(1, { message: 'x' }), NOW)
  await hold(engine, blockOf('7,8'), paymentOf(3, 3))
}

test('SQL and TypeScript agree on the order of sale', () => {
  expect(rows('SELECT i AS value FROM blocks ORDER BY rank')).toEqual([...CLAIM_ORDER])
  expect(rows('SELECT rank AS value FROM blocks ORDER BY rank')).toEqual(CLAIM_ORDER.map((_, rank) => rank))
})

test('commits are synced before they are acknowledged', () => {
  expect(rows('SELECT synchronous AS value FROM pragma_synchronous')).toEqual([2])
  expect(rows('SELECT foreign_keys AS value FROM pragma_foreign_keys')).toEqual([1])
})

describe('hand-written SQL cannot', () => {
  const first = blockOf('3,4')
  const held = blockOf('7,8')

  test.each([
    ['sell a held block to a second payer', `UPDATE payments SET block = ${held} WHERE id = 1`],
    ['hold a sold block for a second payer', `UPDATE payments SET block = ${first} WHERE id = 3`],
    [
      'insert a second payment for a sold block',
      `INSERT INTO payments SELECT 9, payer, '0x' || substr(nonce, 3, 63) || 'f', pay_to, asset, network, scheme, amount,
         valid_after, valid_before, signature, target, ${first}, name, framework, message, link, head, created_at,
         state, uncertain, dead, settled, looks, unanswered, tx, seq, claimed_at, NULL, attempt, identifier, pixels, w, h FROM payments WHERE id = 3`,
    ],
    ['name another painter for a purchase', `UPDATE purchase_painters SET painter = '${wallet(7)}'`],
    ['put an older word of a wallet before a newer one', 'UPDATE wallet_painters SET ts = ts - 1'],
    ['give a claimed block to another agent', `UPDATE blocks SET agent = 2 WHERE i = ${first}`],
    ['give a claimed block to another payment', `UPDATE blocks SET payment = 3 WHERE i = ${first}`],
    ['open a claimed block', `UPDATE blocks SET state = 'open', payment = NULL, agent = NULL WHERE i = ${first}`],
    ['claim a block without a payment', `UPDATE blocks SET state = 'claimed', agent = 1 WHERE i = 1`],
    ['paint a block that nobody owns', `UPDATE blocks SET message = 'x' WHERE i = 1`],
    ['add a block', 'INSERT INTO blocks (i, rank) VALUES (14400, 14400)'],
    [
      'take a sale back',
      `UPDATE payments SET state = 'released', seq = NULL, tx = NULL, claimed_at = NULL WHERE id = 1`,
    ],
    ['renumber a sale', 'UPDATE payments SET seq = 9 WHERE id = 1'],
    [
      'use a nonce twice',
      `UPDATE payments SET payer = (SELECT payer FROM payments WHERE id = 1), nonce = (SELECT nonce FROM payments WHERE id = 1) WHERE id = 3`,
    ],
    ['forget a payment', 'DELETE FROM payments WHERE id = 3'],
    ['sell without a transaction', `UPDATE payments SET state = 'sold', seq = 1, claimed_at = 1 WHERE id = 3`],
    ['wait for a sale', 'UPDATE payments SET uncertain = 1 WHERE id = 1'],
    ['settle what is only held', 'UPDATE payments SET settled = 1 WHERE id = 3'],
    ['rewrite the log', `UPDATE changes SET message = 'y' WHERE number = 3`],
    ['shorten the log', 'DELETE FROM changes WHERE number = 3'],
    [
      'replace an entry of the log',
      `INSERT OR REPLACE INTO changes (number, at, kind, block) VALUES (3, 1, 'repaint', ${first})`,
    ],
    ['leave a gap in the log', `INSERT INTO changes (number, at, kind, block) VALUES (5, 1, 'repaint', ${first})`],
    [
      'leave a gap in the sales',
      `INSERT INTO changes (number, at, kind, block, seq, agent) VALUES (4, 1, 'sale', 1, 4, 1)`,
    ],
    [
      'log a second sale of a block',
      `INSERT INTO changes (number, at, kind, block, seq, agent) VALUES (4, 1, 'sale', ${first}, 3, 1)`,
    ],
    ['give a block half a picture', `UPDATE blocks SET pixels = zeroblob(50) WHERE i = ${first}`],
    ['store a text as a number', `UPDATE payments SET amount = 'much' WHERE id = 3`],
    ['name a second network', `INSERT INTO wall (only_row, network) VALUES (2, 'eip155:1')`],
  ])('%s', (_, sql) => {
    expect(() => connection.run(sql)).toThrow(
      /constraint failed|stays|final|whole|remembered|append-only|gaps|once|older|cannot store/,
    )
  })
})
