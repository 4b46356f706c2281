import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openPostgresAudit } from '../../../../db/postgres/audit.ts'
import { openPostgres } from '../../../../db/postgres/open.ts'
import { failureOf } from '../../../support/engine.ts'
import { sellAllButOn } from '../../../support/nearly-sold.ts'
import { startPostgres, type PostgresServer } from '../../../support/postgres/server.ts'
import { TERMS } from '../../../support/samples.ts'
import { auditContract, type Audited } from '../../ports/audit.contract.ts'

// Goal: the books can be read beside the processes that sell, and tell everything about money. Method: one engine writes,
// and the books are opened on their own.

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
}, 30_000)
afterAll(() => server.stop())

/** A wall with its books read through it and beside it. */
async function audited(url: string): Promise<Audited> {
  const wall = await openPostgres(url, TERMS.network)
  const beside = await openPostgresAudit(url)
  const close = async () => void (await Promise.all([beside.close(), wall.close()]))
  return { wall, books: [wall.audit, beside], close }
}

auditContract(
  'PostgreSQL',
  async () => await audited(server.url(await server.newDatabase())),
  async () => {
    const url = server.url(await server.newDatabase())
    await (await openPostgres(url, TERMS.network)).close()
    await sellAllButOn(url, 1)
    return await audited(url)
  },
)

test('a database that is no wall yet has no books', async () => {
  expect(await failureOf(openPostgresAudit(server.url(await server.newDatabase())))).toMatchObject({
    name: 'CannotOpen',
    message: expect.stringContaining('of another version'),
  })
})
