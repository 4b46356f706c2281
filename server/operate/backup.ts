/** `bun run backup FILE`: copies the database while the wall goes on selling. */

import { CannotOpen } from '../../db/cannot-open.ts'
import { backUp } from '../../db/sqlite/backup.ts'
import { readPlace } from '../config.ts'
import { printTrouble } from './command.ts'

const USAGE = `Copies the wall's database (DATABASE_PATH, ./wall.sqlite) to a new file, at any time.

  bun run backup FILE

To restore one: stop the wall, put the copy in the database's place, remove its -wal and -shm files, start.
`

const NOT_A_FILE = `The wall is on a PostgreSQL server (DATABASE_URL), whose own tools copy it while it is in use:

  pg_dump --format=custom --file=FILE "$DATABASE_URL"     one copy; pg_restore puts it back into an empty database
  pg_basebackup with archived write-ahead logs            every moment, which is what money asks for

After a restore, bun run accept-restore tells what was sold since.
`

const [file, ...rest] = Bun.argv.slice(2)
if (file === undefined || rest.length > 0 || file.startsWith('-')) {
  console.error(USAGE)
  process.exit(2)
}
try {
  const { database } = readPlace(Bun.env)
  if (database.kind === 'postgres') throw new CannotOpen(NOT_A_FILE)
  const { path } = database
  backUp(path, file)
  console.log(`${path} as it was a moment ago is in ${file} (${Bun.file(file).size} bytes)`)
} catch (error) {
  printTrouble(error)
  process.exit(1)
}
