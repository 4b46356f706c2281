import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { openPostgres } from '../../../../db/postgres/open.ts'
import { StoreUnavailable } from '../../../../server/domain/failure.ts'
import type { StoreReplaced } from '../../../../server/ports.ts'
import { failureOf, hold, sell } from '../../../support/engine.ts'
import { startPostgres, type PostgresServer } from '../../../support/postgres/server.ts'
import {
  blockOf,
  editOf,
  hash,
  HEAD,
  NOW,
  paymentOf,
  SILENT,
  TERMS,
  createWalletAddress,
} from '../../../support/samples.ts'
import { openPostgresWalls } from './walls.ts'

// Goal: a server that lost acknowledged commits, as after a failover to a stale standby, is not trusted, and sells
// nothing a second time. Method: the data of a real server is replaced by an older copy while engines are open.

const { newWall } = openPostgresWalls()

// The tests do not restore an older copy on a server that they did not start.
const isOurs = (Bun.env['TEST_DATABASE_URL'] ?? '') === ''

// After each test but the last one, the server has the data of its copy.
describe.skipIf(!isOurs)('a server that is restored to the time when one block was sold', () => {
  let server: PostgresServer
  let url: string
  beforeAll(async () => {
    server = await startPostgres()
    url = server.url(await server.newDatabase())
    const first = await openPostgres(url, TERMS.network)
    await sell(first, '3,4', 1, 1)
    await first.close()
    await server.keepCopy()
  }, 30_000)
  afterAll(() => server.stop())

  const open = async () => {
    const wall = await openPostgres(url, TERMS.network)
    const replaced: StoreReplaced[] = []
    wall.store.watch((event) => replaced.push(event))
    return { wall, replaced }
  }

  test('a server that lost a sale causes one alert, and is neither read nor written', async () => {
    const { wall, replaced } = await open()
    const sold = await sell(wall, '5,6', 2, 2)
    const seen = await wall.store.position()
    await server.putCopyBack()
    const listSteps = () => [
      wall.ledger.find(sold.payment),
      wall.ledger.availability('next', paymentOf(3, 3), NOW, []),
      wall.ledger.holders('next'),
      wall.ledger.unfinished(NOW),
      wall.ledger.claim(blockOf('5,6'), paymentOf(3, 3), SILENT, HEAD, NOW, []),
      wall.ledger.finalize(sold, hash(2), true, NOW),
      wall.blocks.edit(blockOf('3,4'), editOf(1), NOW),
      wall.checkpoint.reach(HEAD),
      wall.payouts.note(paymentOf(9, 9), 'stray', NOW),
      wall.ledgerReader.ofPayer(createWalletAddress(2)),
      wall.log.after(0, 9),
      wall.leases.take(paymentOf(3, 3), 1000),
    ]
    for (const failure of await Promise.all(listSteps().map(failureOf)))
      expect(failure).toBeInstanceOf(StoreUnavailable)
    expect(await wall.store.ready()).toBe(false)
    const { change, payment } = seen
    expect(replaced).toEqual([{ progress: { change: 1, payment: 1 }, seen: { change, payment }, isOlder: true }])
    await wall.close()
  })

  test('a server that lost only a claim counts as older too, because money may have moved for it', async () => {
    const { wall, replaced } = await open()
    await hold(wall, blockOf('5,6'), paymentOf(2, 3))
    await server.putCopyBack()
    expect(await failureOf(wall.ledger.find(paymentOf(2, 3)))).toBeInstanceOf(StoreUnavailable)
    expect(replaced).toMatchObject([{ isOlder: true }])
    await wall.close()
  })

  test('a sale of another process counts as seen once it was read in the log', async () => {
    const [one, other] = [await open(), await open()]
    await sell(one.wall, '5,6', 2, 2)
    await other.wall.log.after(1, 9)
    await server.putCopyBack()
    expect(await failureOf(other.wall.ledger.find(paymentOf(1, 1)))).toBeInstanceOf(StoreUnavailable)
    expect(other.replaced).toMatchObject([{ seen: { change: 2 }, isOlder: true }])
    await Promise.all([one.wall.close(), other.wall.close()])
  })

  test('a server that was only restarted is reported as replaced, and stays in use', async () => {
    const { wall, replaced } = await open()
    const sold = await sell(wall, '5,6', 2, 2)
    expect(replaced).toEqual([])
    await server.kill()
    await server.start()
    expect(await wall.ledger.find(sold.payment)).toEqual(sold)
    await sell(wall, '7,8', 3, 3)
    expect(replaced).toMatchObject([{ isOlder: false }])
    await wall.close()
  })
})

test('a commit on an open connection is rejected once the database is older than before', async () => {
  const url = await newWall()
  const wall = await openPostgres(url, TERMS.network)
  const sold = await sell(wall, '5,6', 1, 1)
  const sql = new SQL(url, { max: 1 })
  await sql.unsafe('UPDATE counters SET number = 0')
  expect(await failureOf(wall.ledger.claim('next', paymentOf(2, 2), SILENT, HEAD, NOW, []))).toBeInstanceOf(
    StoreUnavailable,
  )
  expect(await failureOf(wall.payouts.note(sold.payment, 'refund', NOW))).toBeInstanceOf(StoreUnavailable)
  expect(await sql.unsafe('SELECT nonce FROM payments')).toHaveLength(1)
  await sql.unsafe('UPDATE counters SET number = 1')
  await hold(wall, 'next', paymentOf(2, 2))
  await Promise.all([wall.close(), sql.close()])
})
