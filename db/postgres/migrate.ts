/**
 * Migrates a database to the newest version of its tables; if several processes start together, only one of them
 * migrates.
 */

import { CannotOpen, NoWallYet } from '../cannot-open.ts'
import { listMigrations } from '../migrations.ts'
import type { Session } from './pool.ts'

const migrations = listMigrations('postgres')

// The number of the advisory lock for migrations, which spells 'wall' in ASCII.
const LOCK = 0x77616c6c

/** Migrates in one transaction. Throws `CannotOpen` for a database that a newer version of this program wrote. */
export async function migrate(session: Session): Promise<void> {
  await session.run(`BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
    SELECT pg_advisory_xact_lock(${LOCK});
    CREATE TABLE IF NOT EXISTS migrations (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())`)
  const version = await readVersion(session)
  if (version > migrations.length)
    throw new CannotOpen(
      `the database was written by a newer version (schema ${version}; this program supports up to ${migrations.length})`,
    )
  for (const [at, sql] of migrations.entries()) {
    if (at < version) continue
    await session.run(`${sql}; INSERT INTO migrations (version) VALUES (${at + 1})`)
  }
  await session.run('COMMIT')
}

/** Throws `CannotOpen` unless the tables have this program's version; for callers that may not change them. */
export async function checkSchema(session: Session): Promise<void> {
  const [tables] = await session.queryRows<{ there: boolean }>(`SELECT to_regclass('migrations') IS NOT NULL AS there`)
  if (tables?.there !== true) throw new NoWallYet('the database has no tables; start the wall once to create them')
  if ((await readVersion(session)) !== migrations.length)
    throw new CannotOpen(
      'the schema version of the database differs from that of this program; start the wall once to upgrade it',
    )
}

async function readVersion(session: Session): Promise<number> {
  const [row] = await session.queryRows<{ version: number }>(
    'SELECT coalesce(max(version), 0) AS version FROM migrations',
  )
  return row?.version ?? 0
}
