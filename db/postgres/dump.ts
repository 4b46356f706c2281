/** Dumps a database with PostgreSQL's own tool, while the wall continues to run. */

import { CannotOpen } from '../cannot-open.ts'
import { writeNewFile } from '../new-file.ts'

/** The path of `pg_dump`; `null` if it is not installed on this machine. */
export const findDumpTool = (): string | null => Bun.which('pg_dump')

export const NO_DUMP_TOOL =
  'pg_dump is not installed on this machine: install PostgreSQL’s client programs, of the server’s version or a later one'

/**
 * Writes a consistent copy of a database to a new file that `pg_restore` reads. Throws `CannotOpen` if that fails; the
 * tool's own message is on standard error.
 */
export function dumpDatabase(url: string, file: string): void {
  const tool = findDumpTool()
  if (tool === null) throw new CannotOpen(NO_DUMP_TOOL)
  const { place, password } = splitPassword(url)
  writeNewFile(file, (unfinished) => {
    const { exitCode } = Bun.spawnSync(
      [
        tool,
        '--format=custom',
        '--no-owner',
        '--no-privileges',
        '--no-password',
        `--file=${unfinished}`,
        `--dbname=${place}`,
      ],
      {
        env: { ...Bun.env, ...(password === '' ? {} : { PGPASSWORD: password }) },
        stdout: 'ignore',
        stderr: 'inherit',
      },
    )
    if (exitCode !== 0) throw new CannotOpen(`pg_dump failed (status ${exitCode}); its message is above`)
  })
}

/** Splits the password off a URL: other users can read the arguments of a process, but not its environment. */
function splitPassword(url: string): { readonly place: string; readonly password: string } {
  const place = new URL(url)
  const password = decodeURIComponent(place.password)
  place.password = ''
  return { place: place.href, password }
}
