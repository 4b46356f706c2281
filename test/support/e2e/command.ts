/**
 * Runs the operator's commands from source, with only the given settings: those in the machine's own file are ignored.
 */

import { join } from 'node:path'
import { readOutput } from '../output-of.ts'

export type Ended = { readonly out: string; readonly err: string; readonly status: number }

/** Runs a command with a wall's settings in a folder; returns its output and exit status. */
export async function runCommand(
  settings: Readonly<Record<string, string>>,
  folder: string,
  command: string,
  ...args: readonly string[]
): Promise<Ended> {
  const program = [process.execPath, join(import.meta.dir, '../../../server/cli.ts'), '--env-file', '/dev/null']
  const child = Bun.spawn([...program, command, ...args], {
    cwd: folder,
    env: { PATH: Bun.env['PATH'] ?? '', ...settings },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const { out, err, code } = await readOutput(child)
  return { out, err, status: code }
}
