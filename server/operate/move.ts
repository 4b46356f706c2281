/** `pixel-wall move --to PLACE`: moves the wall from one database to another. */

import { parseArgs } from 'node:util'
import { CannotOpen } from '../../db/cannot-open.ts'
import { moveWall, formatLocation, type Moved } from '../../db/move.ts'
import { ConfigError, readPlace } from '../config.ts'
import type { Database } from '../domain/store-position.ts'
import { UsageError, printLines, type Command } from './command.ts'

const USAGE = `Copies the wall from the database in the settings to another kind of database. The wall must be stopped.

  pixel-wall move --to postgres://USER@HOST/DATABASE [--rehearse] [--json]     from DATABASE_PATH into an empty database
  pixel-wall move --to FILE [--rehearse] [--json]                             from DATABASE_URL into a new file

The copy is compared with the original before the move is final. Pass a password in PGPASSWORD rather than in the URL.
With --rehearse, everything is done but nothing is kept; the wall can keep selling meanwhile.
Exit status: 0 if the move or the rehearsal succeeded, 2 if it failed; then nothing was moved.
`

const REHEARSED = 'Nothing was kept: this was a rehearsal. To move the wall, stop it and leave out --rehearse.'

// A wall that is stopping may have some requests to finish.
const TIMEOUT_MS = 3000

/** Moves the wall to another database. */
export const move: Command = {
  usage: USAGE,
  async run(args) {
    const { values } = parseArgs({
      args: [...args],
      options: { to: { type: 'string' }, rehearse: { type: 'boolean' }, json: { type: 'boolean' } },
    })
    if (values.to === undefined || values.to === '') throw new UsageError()
    const from = readPlace(Bun.env).database
    const to = parseDatabase(values.to)
    const isRehearsal = values.rehearse === true
    const moved = await moveWall(from, to, { isRehearsal, timeoutMs: TIMEOUT_MS })
    const [source, target] = [formatLocation(from), formatLocation(to)]
    const result = { moved: !isRehearsal, from: source, to: target, rows: moved }
    printLines(
      values.json === true
        ? JSON.stringify(result, null, 2).split('\n')
        : [...formatCounts(moved), '', ...(isRehearsal ? [REHEARSED] : listNextSteps(from, to))],
    )
    return 0
  },
}

/** Parses the database that `--to` names. */
function parseDatabase(text: string): Database {
  if (!text.includes('://')) return { kind: 'sqlite', path: text }
  try {
    return readPlace({ DATABASE_URL: text }).database
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new CannotOpen('--to must be a file, or a postgres:// URL that names a host and a database')
  }
}

function formatCounts(moved: Moved): string[] {
  const lines = Object.entries(moved).map(([table, count]) => `  ${table.padEnd(10)} ${count}`)
  return ['Copied these rows, and compared them with the originals, one by one and as readers see them:', ...lines]
}

function listNextSteps(from: Database, to: Database): string[] {
  const [set, unset] = to.kind === 'postgres' ? ['DATABASE_URL', 'DATABASE_PATH'] : ['DATABASE_PATH', 'DATABASE_URL']
  return [
    `The wall is now in ${formatLocation(to)}. Next:`,
    `  1. in the settings of every process, set ${set} to this location and remove ${unset}`,
    '  2. start the wall and run: pixel-wall books',
    `  3. keep ${formatLocation(from)} as a backup of this moment`,
    '',
    `A note was left with the old database, so no wall can start on ${formatLocation(from)}: two walls would sell the same blocks to different buyers.`,
  ]
}
