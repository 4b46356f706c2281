/** `pixel-wall backup`: copies the database while the wall keeps selling, and removes the oldest copies. */

import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CannotOpen } from '../../db/cannot-open.ts'
import { backUp } from '../../db/sqlite/file/backup.ts'
import { readPlace } from '../config.ts'
import { UsageError, type Command } from './command.ts'

const USAGE = `Copies the wall's database (DATABASE_PATH, ./wall.sqlite) to a new file, at any time.

  pixel-wall backup FILE
  pixel-wall backup --into FOLDER [--keep COUNT] [--max-gb GB]
                    names the copy by the time; keeps the newest COUNT of these copies, and only as many as fit into GB
                    gigabytes together. The newest copy always stays.

To restore a copy: stop the wall, replace the database with the copy, remove its -wal and -shm files, and start the wall.
`

const NOT_A_FILE = `The wall is on a PostgreSQL server (DATABASE_URL). Use PostgreSQL's own tools, which work while the wall runs:

  pg_dump --format=custom --file=FILE "$DATABASE_URL"     one copy; restore it with pg_restore into an empty database
  pg_basebackup with archived write-ahead logs            point-in-time recovery, recommended for money

After a restore, run pixel-wall accept-restore to list what was sold since.
`

const OPTIONS = { into: { type: 'string' }, keep: { type: 'string' }, 'max-gb': { type: 'string' } } as const

/** Copies the database. */
export const backup: Command = {
  usage: USAGE,
  async run(args) {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS })
    const { into, keep, 'max-gb': maxGb } = values
    const [named, ...rest] = positionals
    const file = into === undefined ? named : join(into, nameOf(new Date()))
    const isBoth = into !== undefined && named !== undefined
    if (file === undefined || isBoth || rest.length > 0) throw new UsageError()
    for (const limit of [keep, maxGb])
      if (limit !== undefined && (into === undefined || !/^[1-9]\d{0,5}$/.test(limit))) throw new UsageError()
    const { database } = readPlace(Bun.env)
    if (database.kind === 'postgres') throw new CannotOpen(NOT_A_FILE)
    const { path } = database
    backUp(path, file)
    console.log(`${path} was backed up to ${file} (${Bun.file(file).size} bytes)`)
    // Only once the new one is whole.
    if (into !== undefined)
      removeCopies(into, {
        count: keep === undefined ? Number.POSITIVE_INFINITY : Number(keep),
        bytes: maxGb === undefined ? Number.POSITIVE_INFINITY : Number(maxGb) * BYTES_PER_GB,
      })
    return 0
  },
}

const COPY = /^wall-\d{8}T\d{9}Z\.sqlite$/

/** Sorts by time. */
const nameOf = (at: Date) => `wall-${at.toISOString().replaceAll(/[-:.]/g, '')}.sqlite`

const BYTES_PER_GB = 1_000_000_000

/** How many copies to keep, and how many bytes they may have together. */
type Limits = { readonly count: number; readonly bytes: number }

function removeCopies(folder: string, limits: Limits): void {
  const names = readdirSync(folder).filter((name) => COPY.test(name))
  const copies = names.map((name) => ({ name, bytes: statSync(join(folder, name)).size }))
  for (const name of copiesBeyond(copies, limits)) rmSync(join(folder, name))
}

/** The names of the copies beyond the limits: the oldest ones. The newest copy is never among them. */
export function copiesBeyond(
  copies: readonly { readonly name: string; readonly bytes: number }[],
  { count, bytes }: Limits,
): readonly string[] {
  const newestFirst = copies.toSorted((one, other) => (one.name < other.name ? 1 : -1))
  let together = 0
  const end = newestFirst.findIndex((copy, at) => {
    together += copy.bytes
    return at > 0 && (at >= count || together > bytes)
  })
  return end < 0 ? [] : newestFirst.slice(end).map(({ name }) => name)
}
