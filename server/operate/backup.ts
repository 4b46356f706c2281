/** `bun run backup FILE`: copies the database while the wall goes on selling. */

import { backUp } from '../../db/sqlite/backup.ts'
import { CannotOpen } from '../../db/sqlite/errors.ts'

const USAGE = `Copies the wall's database (DATABASE_PATH, ./wall.sqlite) to a new file, at any time.

  bun run backup FILE

To restore one: stop the wall, put the copy in the database's place, remove its -wal and -shm files, start.
`

const [file, ...rest] = Bun.argv.slice(2)
if (file === undefined || rest.length > 0 || file.startsWith('-')) {
  console.error(USAGE)
  process.exit(2)
}
const path = Bun.env['DATABASE_PATH'] ?? './wall.sqlite'
try {
  backUp(path, file)
  console.log(`${path} as it was a moment ago is in ${file} (${Bun.file(file).size} bytes)`)
} catch (error) {
  if (!(error instanceof CannotOpen)) throw error
  console.error(error.message)
  process.exit(1)
}
