import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openPostgres, openPostgresAudit } from '../../db/postgres/open.ts'
import type { Statement } from '../../server/domain/statement.ts'
import { failureOf, hold, sell } from '../ports/engine.ts'
import { blockOf, hash, HEAD, NOW, paymentOf, SILENT, TERMS, wallet } from '../ports/samples.ts'
import { sellAllBut } from './nearly-sold-postgres.ts'
import { startPostgres, type PostgresServer } from './postgres-server.ts'

// Goal: the books can be read beside the processes that sell, and tell everything about money. Method: one engine writes,
// and the books are opened on their own.

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
}, 30_000)
afterAll(() => server.stop())

const keyOf = (payer: number, nonce: number) => ({ payer: wallet(payer), nonce: hash(nonce) })

test('every payment is in the books as what became of it, while the wall goes on', async () => {
  const url = server.url(await server.newDatabase())
  const wall = await openPostgres(url, TERMS.network)
  const audit = await openPostgresAudit(url)
  const nothing = { claimed: 0, sales: [], credits: [], open: [], dead: [], payouts: [], payees: [], from: undefined }
  expect(await audit.statement()).toEqual(nothing)

  await sell(wall, '3,4', 1, 1)
  const doubted = await wall.ledger.doubt(await hold(wall, 'next', paymentOf(2, 2), SILENT, NOW + 5))
  const watched = await hold(wall, blockOf('5,6'), paymentOf(3, 3))
  await wall.ledger.release(watched, false)
  await wall.ledger.release(await hold(wall, blockOf('7,8'), paymentOf(4, 4)), true)
  expect(await wall.payouts.note(keyOf(9, 9), 'refund 1', NOW)).toBe(true)
  expect(await wall.payouts.note(keyOf(9, 9), 'refund 2', NOW)).toBe(false)
  const statement: Statement = {
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
  }
  expect(await audit.statement()).toEqual(statement)
  expect(await wall.audit.statement()).toEqual(statement)
  await Promise.all([audit.close(), wall.close()])
})

test('a credit is owed until it was paid out', async () => {
  const name = await server.newDatabase()
  await (await openPostgres(server.url(name), TERMS.network)).close()
  await sellAllBut(1, server.url(name))
  const wall = await openPostgres(server.url(name), TERMS.network)
  const given = await hold(wall, 'next', paymentOf(1, 1))
  await wall.ledger.release(given, false)
  await sell(wall, 'next', 2, 2)
  await wall.ledger.owe(given, hash(1), NOW)
  const credit = { ...keyOf(1, 1), amount: 1_000_000n, tx: hash(1), paidOut: null }
  expect((await wall.audit.statement()).credits).toEqual([credit])
  await wall.payouts.note(keyOf(1, 1), 'refund 1', NOW)
  expect((await wall.audit.statement()).credits).toEqual([{ ...credit, paidOut: 'refund 1' }])
  await wall.close()
})

test('a database that is no wall yet has no books', async () => {
  expect(await failureOf(openPostgresAudit(server.url(await server.newDatabase())))).toMatchObject({
    name: 'CannotOpen',
    message: expect.stringContaining('of another version'),
  })
})
