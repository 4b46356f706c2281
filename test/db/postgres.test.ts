import { afterAll, beforeAll, describe } from 'bun:test'
import { openPostgres } from '../../db/postgres/open.ts'
import { agentsContract } from '../ports/agents.contract.ts'
import { blocksContract } from '../ports/blocks.contract.ts'
import { booksContract } from '../ports/books.contract.ts'
import { ledgerContract } from '../ports/ledger.contract.ts'
import { logContract } from '../ports/log.contract.ts'
import { moderationContract } from '../ports/moderation.contract.ts'
import { TERMS } from '../ports/samples.ts'
import { sellAllBut } from './nearly-sold-postgres.ts'
import { startPostgres, type PostgresServer } from './postgres-server.ts'

// Goal: PostgreSQL keeps every promise of the ports. Method: the ports' own suites, each test on a database of its own.

let server: PostgresServer
let empty: string
let last: string

beforeAll(async () => {
  server = await startPostgres()
  empty = await server.newDatabase()
  await (await openPostgres(server.url(empty), TERMS.network)).close()
  last = await server.newDatabase(empty)
  await sellAllBut(1, server.url(last))
}, 30_000)
afterAll(() => server.stop())

describe('PostgreSQL', () => {
  const name = 'PostgreSQL'
  const openCopy = async (template: string) =>
    await openPostgres(server.url(await server.newDatabase(template)), TERMS.network)
  const open = () => openCopy(empty)
  const openLast = () => openCopy(last)
  ledgerContract(name, open, openLast)
  booksContract(name, open, openLast)
  blocksContract(name, open)
  agentsContract(name, open)
  logContract(name, open)
  moderationContract(name, open)
})
