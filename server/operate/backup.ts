/** `pixel-wall backup`: copies or dumps the database while the wall keeps selling, and can remove the oldest copies. */

import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { dumpDatabase } from '../../db/postgres/dump.ts'
import { backUp } from '../../db/sqlite/file/backup.ts'
import { readPlace } from '../config.ts'
import { NoAdminSocket } from './admin-socket.ts'
import { sendCommand, runRemotely, UsageError, type Command } from './command.ts'

const USAGE = `Backs up the wall's database to a new file, at any time: a copy of the file (DATABASE_PATH, ./wall.sqlite), or on a
PostgreSQL server (DATABASE_URL) a dump by pg_dump, which must be installed.

  pixel-wall backup FILE
  pixel-wall backup --into FOLDER [--keep COUNT] [--max-gb GB]
                    names the copy after the time; keeps the newest COUNT of these copies, and only as many as fit within GB
                    gigabytes in total. The newest copy always stays.
  pixel-wall backup --made
                    records that another tool made a backup just now, such as a snapshot or pg_basebackup.

The running wall records the time: pixel-wall status shows the age of the backup, and an alert fires after three hours without one.
To restore a copy: stop the wall, replace the database with the copy, remove its -wal and -shm files, and start the wall.
To restore a dump: stop every instance, pg_restore it into an empty database, run pixel-wall accept-restore, and start.
`

const OPTIONS = {
  into: { type: 'string' },
  keep: { type: 'string' },
  'max-gb': { type: 'string' },
  made: { type: 'boolean' },
} as const

/** Backs up the database. */
export const backup: Command = {
  usage: USAGE,
  async run(args) {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS })
    const { into, keep, 'max-gb': maxGb, made } = values
    if (made === true) {
      if (args.length > 1) throw new UsageError('--made takes no other arguments')
      return await runRemotely('backed-up', {})
    }
    const [named, ...rest] = positionals
    const { database } = readPlace(Bun.env)
    const file = into === undefined ? named : join(into, formatCopyName(new Date(), database.kind))
    const isBoth = into !== undefined && named !== undefined
    if (file === undefined || isBoth || rest.length > 0) throw new UsageError()
    for (const limit of [keep, maxGb])
      if (limit !== undefined && (into === undefined || !/^[1-9]\d{0,5}$/.test(limit))) throw new UsageError()
    if (database.kind === 'postgres') dumpDatabase(database.url, file)
    else backUp(database.path, file)
    const what = database.kind === 'postgres' ? 'the database' : database.path
    console.log(`${what} was backed up to ${file} (${Bun.file(file).size} bytes)`)
    await recordBackup()
    // Old copies are removed only once the new backup is complete.
    if (into !== undefined)
      removeExpiredCopies(into, {
        count: keep === undefined ? Number.POSITIVE_INFINITY : Number(keep),
        bytes: maxGb === undefined ? Number.POSITIVE_INFINITY : Number(maxGb) * BYTES_PER_GB,
      })
    return 0
  },
}

/** Lets the running wall record the backup. A stopped wall cannot record it, but the backup is still valid. */
async function recordBackup(): Promise<void> {
  try {
    await sendCommand('backed-up', {})
  } catch (error) {
    if (!(error instanceof NoAdminSocket)) throw error
    console.error('no wall is running on this machine, so the time of this backup is not recorded')
  }
}

const COPY = /^wall-\d{8}T\d{9}Z\.(?:sqlite|dump)$/

/** The file name of a copy; such names sort by time. */
const formatCopyName = (at: Date, engine: 'sqlite' | 'postgres') =>
  `wall-${at.toISOString().replaceAll(/[-:.]/g, '')}.${engine === 'sqlite' ? 'sqlite' : 'dump'}`

const BYTES_PER_GB = 1_000_000_000

/** How many copies to keep, and their maximum total size in bytes. */
type Limits = { readonly count: number; readonly bytes: number }

function removeExpiredCopies(folder: string, limits: Limits): void {
  const names = readdirSync(folder).filter((name) => COPY.test(name))
  const copies = names.map((name) => ({ name, bytes: statSync(join(folder, name)).size }))
  for (const name of selectExpiredCopies(copies, limits)) rmSync(join(folder, name))
}

/** The names of the copies beyond the limits: the oldest ones. The newest copy is never among them. */
export function selectExpiredCopies(
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
