/** Tells whether a row of a database was changed, whoever changed it. */

import type { Database } from 'bun:sqlite'

// A payment that was refused after it was verified is watched, and holds nothing.
const HELD_OR_SOLD = ` WHERE state != 'released'`

/**
 * A number that changes whenever a row does. SQLite's own `data_version` changes with each commit, also with the one by
 * which the wall tries every two seconds whether it can write; so the rows are compared where it has changed.
 */
export function rowsVersion(rows: Database): () => number {
  const commits = rows.query<{ data_version: number }, []>('PRAGMA data_version')
  const tables = rows
    .query<{ name: string }, []>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all()
    .map(({ name }) => rows.query<unknown[], []>(`SELECT * FROM "${name}"${name === 'payments' ? HELD_OR_SOLD : ''}`))
  const digest = () =>
    Bun.hash(
      JSON.stringify(
        tables.map((table) => table.values()),
        asText,
      ),
    )
  let seen = { commit: commits.get()?.data_version, digest: digest(), version: 0 }
  return () => {
    const commit = commits.get()?.data_version
    if (commit === seen.commit) return seen.version
    const now = digest()
    seen = { commit, digest: now, version: now === seen.digest ? seen.version : seen.version + 1 }
    return seen.version
  }
}

const asText = (_: string, value: unknown) =>
  typeof value === 'bigint'
    ? value.toString()
    : value instanceof Uint8Array
      ? Buffer.from(value).toString('hex')
      : value
