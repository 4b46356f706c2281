/** Migrates a database to the newest version of its tables, one transaction per step. */

import { CannotOpen } from '../cannot-open.ts'
import { listMigrations } from '../migrations.ts'
import { readOneRow, type Connection } from './connection.ts'
import type { RawConnection } from './raw.ts'

const migrations = listMigrations('sqlite')

// The application id that the first migration writes into the file's header.
const APPLICATION_ID = 0x77616c6c

/** Applies the missing steps. Throws `CannotOpen` for a file of another program, or of a newer version of this one. */
export function migrate(connection: Connection): void {
  const version = readVersion(connection)
  if (version > migrations.length)
    throw new CannotOpen(
      `the database was written by a newer version (schema ${version}; this program supports up to ${migrations.length})`,
    )
  if (version === migrations.length) return
  // Foreign keys are off because a migration may recreate a referenced table under the same name; the references are
  // checked below.
  const { enforced } = readOneRow(
    connection.prepare<{ enforced: number }>('SELECT foreign_keys AS enforced FROM pragma_foreign_keys'),
    {},
  )
  connection.run('PRAGMA foreign_keys = OFF')
  for (const [at, sql] of migrations.entries()) {
    if (at < version) continue
    connection.write(() => {
      connection.run(`${sql}; PRAGMA user_version = ${at + 1}`)
      if (connection.prepare('SELECT 1 FROM pragma_foreign_key_check').get({}) !== null)
        throw new CannotOpen('the tables of the database are inconsistent: a row refers to a missing row')
    })
  }
  connection.run(`PRAGMA foreign_keys = ${enforced}`)
}

/** Throws `CannotOpen` unless the tables have this program's version; for callers that may not change them. */
export function checkSchema(connection: RawConnection): void {
  if (readVersion(connection) !== migrations.length)
    throw new CannotOpen(
      'the schema version of the database differs from that of this program; start the wall once to upgrade it',
    )
}

function readVersion(connection: RawConnection): number {
  const header = connection
    .prepare<{ application: number; version: number; tables: number }>(
      `SELECT application_id AS application, user_version AS version, (SELECT count(*) FROM sqlite_schema) AS tables
       FROM pragma_application_id, pragma_user_version`,
    )
    .get({})
  if (header === null) throw new CannotOpen('the database has no header')
  if (header.application === APPLICATION_ID) return header.version
  if (header.application === 0 && header.version === 0 && header.tables === 0) return 0
  throw new CannotOpen('the file is a database of another program')
}
