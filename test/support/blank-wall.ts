/** Empty walls in memory. */

import { Database } from 'bun:sqlite'
import { listMigrations } from '../../db/migrations.ts'
import type { Connection } from '../../db/sqlite/connection.ts'
import { openSqlite, openWall, type Sqlite } from '../../db/sqlite/open.ts'
import { TERMS } from './samples.ts'

// The tables are created once for all tests of a file, because copying them is fifty times as fast as creating them.
let made: Uint8Array | undefined

function createBlankWall(): Uint8Array {
  if (made !== undefined) return made
  const steps = listMigrations('sqlite')
  const db = new Database(':memory:')
  db.run('PRAGMA foreign_keys = OFF')
  for (const step of steps) db.run(step)
  db.run(`PRAGMA user_version = ${steps.length}`)
  made = db.serialize()
  db.close()
  return made
}

/** Opens the store of an empty wall. */
export const openBlankWall = (): Promise<Sqlite> => openSqlite(':memory:', TERMS.network, { copyOf: createBlankWall() })

/** Opens a connection to an empty wall, for tests that read its tables. */
export const connectToBlankWall = (): Connection => openWall(':memory:', TERMS.network, { copyOf: createBlankWall() })
