/** Walls on PostgreSQL for the tests of one file. */

import { afterAll, beforeAll } from 'bun:test'
import { openPostgres } from '../../../../db/postgres/open.ts'
import { startPostgres, type PostgresServer } from '../../../support/postgres/server.ts'
import { TERMS } from '../../../support/samples.ts'

/** A server that runs during the tests of one file. */
export type PostgresWalls = {
  readonly getServer: () => PostgresServer
  /** The URL of a new, empty wall. */
  readonly createWall: () => Promise<string>
}

/** Starts a server before the tests of a file, and stops it after them. */
export function openPostgresWalls(): PostgresWalls {
  let server: PostgresServer | undefined
  let blank = ''
  const getServer = () => {
    if (server === undefined) throw new Error('the server is used before it has started')
    return server
  }
  beforeAll(async () => {
    server = await startPostgres()
    blank = await server.createDatabase()
    await (await openPostgres(server.getUrl(blank), TERMS.network)).close()
  }, 30_000)
  afterAll(() => server?.stop())
  return {
    getServer,
    createWall: async () => getServer().getUrl(await getServer().createDatabase(blank)),
  }
}
