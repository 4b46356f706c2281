import { afterAll, beforeAll } from 'bun:test'
import { SQL } from 'bun'
import { openPostgres } from '../../../../db/postgres/open.ts'
import { testOverStore } from '../../../support/engine.ts'
import { sellAllButOnPostgres } from '../../../support/nearly-sold.ts'
import { startPostgres, type PostgresServer } from '../../../support/postgres/server.ts'
import { TERMS } from '../../../support/samples.ts'
import { testStore } from '../../ports/store.contract.ts'

// Goal: PostgreSQL keeps every promise of the ports. Method: the ports' own suites, each test on an emptied or a copied
// wall.

let server: PostgresServer
let one: string
let last: string

beforeAll(async () => {
  server = await startPostgres()
  one = await server.createDatabase()
  await (await openPostgres(server.getUrl(one), TERMS.network)).close()
  last = await server.createDatabase(one)
  await sellAllButOnPostgres(server.getUrl(last), 1)
}, 30_000)
afterAll(() => server.stop())

/** Empties the wall again, because creating a database takes longer than most tests. */
async function deleteSales(url: string): Promise<void> {
  const sql = new SQL(url, { max: 1 })
  await sql
    .unsafe(`
    SET session_replication_role = replica;
    UPDATE blocks SET state = 'open', payment = NULL, agent = NULL, pixels = NULL, message = NULL, link = NULL,
      changed = NULL, signed_at = NULL WHERE state <> 'open';
    DELETE FROM reused_receipts; DELETE FROM purchase_painters; DELETE FROM wallet_painters;
    DELETE FROM moderated_agents; DELETE FROM moderation_acts;
    DELETE FROM payments; DELETE FROM changes; DELETE FROM agents; DELETE FROM moderated; DELETE FROM edits;
    DELETE FROM payouts; DELETE FROM leases; DELETE FROM reports;
    UPDATE counters SET number = 0, seq = 0, agent = 0, at = 0; UPDATE wall SET backed_up_at = NULL, delivered = NULL, report_key = NULL`)
    .simple()
  await sql.close()
}

const testOnEmpty = testOverStore(async () => {
  await deleteSales(server.getUrl(one))
  return await openPostgres(server.getUrl(one), TERMS.network)
})
const testOnLast = testOverStore(
  async () => await openPostgres(server.getUrl(await server.createDatabase(last)), TERMS.network),
)
testStore('PostgreSQL', testOnEmpty, testOnLast)
