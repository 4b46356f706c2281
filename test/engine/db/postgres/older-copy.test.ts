import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { openPostgres } from '../../../../db/postgres/open.ts'
import { StoreUnavailable } from '../../../../server/domain/failure.ts'
import type { StoreReplaced } from '../../../../server/ports.ts'
import { catchFailure, reserveTarget, sellBlock } from '../../../support/engine.ts'
import { startPostgres, type PostgresServer } from '../../../support/postgres/server.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  toHash,
  HEAD,
  NOW,
  createTestPayment,
  SILENT,
  TERMS,
  createWalletAddress,
} from '../../../support/samples.ts'
import { openPostgresWalls } from './walls.ts'

// Goal: a server that lost acknowledged commits, as after a failover to a stale standby, is not trusted, and sells
// nothing a second time. Method: the data of a real server is replaced by an older copy while engines are open.

const { createWall: newWall } = openPostgresWalls()

// The tests do not restore an older copy on a server that they did not start.
const isOurs = (Bun.env['TEST_DATABASE_URL'] ?? '') === ''

// After each test but the last one, the server has the data of the saved copy.
describe.skipIf(!isOurs)('a server whose data is replaced by a copy with one sold block', () => {
  let server: PostgresServer
  let url: string
  beforeAll(async () => {
    server = await startPostgres()
    url = server.getUrl(await server.createDatabase())
    const first = await openPostgres(url, TERMS.network)
    await sellBlock(first, '3,4', 1, 1)
    await first.close()
    await server.saveCopy()
  }, 30_000)
  afterAll(() => server.stop())

  const openWall = async () => {
    const wall = await openPostgres(url, TERMS.network)
    const replaced: StoreReplaced[] = []
    wall.store.watchForReplacement((event) => replaced.push(event))
    return { wall, replaced }
  }

  test('a server that lost a sale causes one alert, and is neither read from nor written to', async () => {
    const { wall, replaced } = await openWall()
    const sold = await sellBlock(wall, '5,6', 2, 2)
    const seen = await wall.store.readPosition()
    await server.restoreCopy()
    const startAllCalls = () => [
      wall.ledger.find(sold.payment),
      wall.ledger.checkAvailability('next', createTestPayment(3, 3), NOW, []),
      wall.ledger.listHolders('next'),
      wall.ledger.listUnfinished(NOW),
      wall.ledger.claim(parseBlockOrThrow('5,6'), createTestPayment(3, 3), SILENT, HEAD, NOW, []),
      wall.ledger.finalize(sold, toHash(2), true, NOW),
      wall.blocks.edit(parseBlockOrThrow('3,4'), createTestEdit(1), NOW),
      wall.checkpoint.advanceTo(HEAD),
      wall.payouts.recordReference(createTestPayment(9, 9), 'stray', NOW),
      wall.ledgerReader.readAccount(createWalletAddress(2)),
      wall.log.readAfter(0, 9),
      wall.leases.take(createTestPayment(3, 3), 1000),
    ]
    for (const failure of await Promise.all(startAllCalls().map(catchFailure)))
      expect(failure).toBeInstanceOf(StoreUnavailable)
    expect(await wall.store.isReadable()).toBe(false)
    const { change, payment } = seen
    expect(replaced).toEqual([{ progress: { change: 1, payment: 1 }, seen: { change, payment }, isOlder: true }])
    await wall.close()
  })

  test('a server that lost only a claim also counts as an older copy, because money may have moved for that claim', async () => {
    const { wall, replaced } = await openWall()
    await reserveTarget(wall, parseBlockOrThrow('5,6'), createTestPayment(2, 3))
    await server.restoreCopy()
    expect(await catchFailure(wall.ledger.find(createTestPayment(2, 3)))).toBeInstanceOf(StoreUnavailable)
    expect(replaced).toMatchObject([{ isOlder: true }])
    await wall.close()
  })

  test('a server that lost a sale made by another process counts as an older copy for a process that has read that sale from the log', async () => {
    const [one, other] = [await openWall(), await openWall()]
    await sellBlock(one.wall, '5,6', 2, 2)
    await other.wall.log.readAfter(1, 9)
    await server.restoreCopy()
    expect(await catchFailure(other.wall.ledger.find(createTestPayment(1, 1)))).toBeInstanceOf(StoreUnavailable)
    expect(other.replaced).toMatchObject([{ seen: { change: 2 }, isOlder: true }])
    await Promise.all([one.wall.close(), other.wall.close()])
  })

  test('a server that was only restarted is reported as replaced, and stays in use', async () => {
    const { wall, replaced } = await openWall()
    const sold = await sellBlock(wall, '5,6', 2, 2)
    expect(replaced).toEqual([])
    await server.kill()
    await server.start()
    expect(await wall.ledger.find(sold.payment)).toEqual(sold)
    await sellBlock(wall, '7,8', 3, 3)
    expect(replaced).toMatchObject([{ isOlder: false }])
    await wall.close()
  })
})

test('a commit on an open connection is rejected if the database was set back to an older state', async () => {
  const url = await newWall()
  const wall = await openPostgres(url, TERMS.network)
  const sold = await sellBlock(wall, '5,6', 1, 1)
  const sql = new SQL(url, { max: 1 })
  await sql.unsafe('UPDATE counters SET number = 0')
  expect(await catchFailure(wall.ledger.claim('next', createTestPayment(2, 2), SILENT, HEAD, NOW, []))).toBeInstanceOf(
    StoreUnavailable,
  )
  expect(await catchFailure(wall.payouts.recordReference(sold.payment, 'refund', NOW))).toBeInstanceOf(StoreUnavailable)
  expect(await sql.unsafe('SELECT nonce FROM payments')).toHaveLength(1)
  await sql.unsafe('UPDATE counters SET number = 1')
  await reserveTarget(wall, 'next', createTestPayment(2, 2))
  await Promise.all([wall.close(), sql.close()])
})
