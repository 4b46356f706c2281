/** `pixel-wall backup`: copies the database while the wall goes on selling, and keeps as many copies as asked. */

import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CannotOpen } from '../../db/cannot-open.ts'
import { backUp } from '../../db/sqlite/file/backup.ts'
import { readPlace } from '../config.ts'
import { UsageError, type Command } from './command.ts'

const USAGE = `Copies the wall's database (DATABASE_PATH, ./wall.sqlite) to a new file, at any time.

  pixel-wall backup FILE
  pixel-wall backup --into FOLDER [--keep COUNT]     names the copy by the time; keeps the newest COUNT of these copies

To restore a copy: stop the wall, replace the database with the copy, remove its -wal and -shm files, and start the wall.
`

const NOT_A_FILE = `The wall is on a PostgreSQL server (DATABASE_URL). Use PostgreSQL's own tools, which work while the wall runs:

  pg_dump --format=custom --file=FILE "$DATABASE_URL"     one copy; restore it with pg_restore into an empty database
  pg_basebackup with archived write-ahead logs            point-in-time recovery, recommended for money

After a restore, run pixel-wall accept-restore to list what was sold since.
`

const OPTIONS = { into: { type: 'string' }, keep: { type: 'string' } } as const

/** Copies the database. */
export const backup: Command = {
  usage: USAGE,
  async run(args) {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS })
    const { into, keep } = values
    const [named, ...rest] = positionals
    const file = into === undefined ? named : join(into, nameOf(new Date()))
    const isBoth = into !== undefined && named !== undefined
    if (file === undefined || isBoth || rest.length > 0) throw new UsageError()
    if (keep !== undefined && (into === undefined || !/^[1-9]\d{0,5}$/.test(keep))) throw new UsageError()
    const { database } = readPlace(Bun.env)
    if (database.kind === 'postgres') throw new CannotOpen(NOT_A_FILE)
    const { path } = database
    backUp(path, file)
    console.log(`${path} was backed up to ${file} (${Bun.file(file).size} bytes)`)
    // Only once the new one is whole.
    if (into !== undefined && keep !== undefined) removeBut(Number(keep), into)
    return 0
  },
}

const COPY = /^wall-\d{8}T\d{9}Z\.sqlite$/

/** Sorts by time. */
const nameOf = (at: Date) => `wall-${at.toISOString().replaceAll(/[-:.]/g, '')}.sqlite`

function removeBut(count: number, folder: string): void {
  const copies = readdirSync(folder).filter((name) => COPY.test(name))
  for (const name of copies.toSorted().slice(0, -count)) rmSync(join(folder, name))
}
