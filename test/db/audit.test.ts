import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAudit } from '../../db/sqlite/audit.ts'
import { openSqlite, openWall, ports } from '../../db/sqlite/open.ts'
import { failureOf, hold, sell } from '../ports/engine.ts'
import { blockOf, hash, HEAD, NOW, paymentOf, SILENT, TERMS, wallet } from '../ports/samples.ts'
import { sellAllBut } from './nearly-sold.ts'

// Goal: the books can be read beside the process that owns them, and tell everything about money. Method: one connection
// writes, another reads the same file.

const folder = mkdtempSync(join(tmpdir(), 'wall-audit-'))
afterAll(() => rmSync(folder, { recursive: true }))
const keyOf = (payer: number, nonce: number) => ({ payer: wallet(payer), nonce: hash(nonce) })

test('every payment is in the books as what became of it, while its owner goes on', async () => {
  const path = join(folder, 'wall.sqlite')
  const wall = await openSqlite(path, TERMS.network)
  const audit = openAudit(path)
  const nothing = { claimed: 0, sales: [], credits: [], open: [], dead: [], payouts: [], payees: [], from: undefined }
  expect(await audit.statement()).toEqual(nothing)

  await sell(wall, '3,4', 1, 1)
  const doubted = await wall.ledger.doubt(await hold(wall, 'next', paymentOf(2, 2), SILENT, NOW + 5))
  const watched = await hold(wall, blockOf('5,6'), paymentOf(3, 3))
  await wall.ledger.release(watched, false)
  await wall.ledger.release(await hold(wall, blockOf('7,8'), paymentOf(4, 4)), true)
  expect(await wall.payouts.note(keyOf(9, 9), 'refund 1', NOW)).toBe(true)
  expect(await wall.payouts.note(keyOf(9, 9), 'refund 2', NOW)).toBe(false)
  expect(await audit.statement()).toEqual({
    claimed: 1,
    sales: [{ ...keyOf(1, 1), block: blockOf('3,4'), amount: 1_000_000n, tx: hash(1) }],
    credits: [],
    open: [
      { purchase: doubted, since: NOW + 5 },
      { purchase: { ...watched, state: { kind: 'released', dead: false } }, since: NOW },
    ],
    dead: [keyOf(4, 4)],
    payouts: [{ ...keyOf(9, 9), reference: 'refund 1', at: NOW }],
    payees: [TERMS.payTo],
    from: HEAD,
  })
  audit.close()
  wall.close()
  const stopped = openAudit(path)
  expect(await stopped.statement()).toMatchObject({ claimed: 1 })
  stopped.close()
})

test('a credit is owed until it was paid out', async () => {
  const path = join(folder, 'full.sqlite')
  const connection = openWall(path, TERMS.network)
  sellAllBut(1, connection)
  const wall = ports(connection)
  const given = await hold(wall, 'next', paymentOf(1, 1))
  await wall.ledger.release(given, false)
  await sell(wall, 'next', 2, 2)
  await wall.ledger.owe(given, hash(1), NOW)
  const audit = openAudit(path)
  const credit = { ...keyOf(1, 1), amount: 1_000_000n, tx: hash(1), paidOut: null }
  expect((await audit.statement()).credits).toEqual([credit])
  await wall.payouts.note(keyOf(1, 1), 'refund 1', NOW)
  expect((await audit.statement()).credits).toEqual([{ ...credit, paidOut: 'refund 1' }])
  audit.close()
  connection.close()
})

test('a file that is not there, or no wall, is refused in plain words', async () => {
  const open = async (name: string) => void openAudit(join(folder, name))
  expect(await failureOf(open('none.sqlite'))).toMatchObject({
    name: 'CannotOpen',
    message: expect.stringContaining('there is no database'),
  })
  await Bun.write(join(folder, 'text.sqlite'), 'not a database, but long enough to be looked at as one'.repeat(20))
  expect(await failureOf(open('text.sqlite'))).toMatchObject({ name: 'CannotOpen' })
})
